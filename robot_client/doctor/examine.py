"""The whole examination, in the order in which a person would mend things."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from contract.arms import ArmUnit, LeaderUnit
from contract.errors import RigError
from contract.layout import ARMS, Arm
from contract.station import Station
from robot_client.clock import MonotonicClock
from robot_client.doctor.buses import NET, check_buses, usable
from robot_client.doctor.cameras import VIDEO, check_cameras
from robot_client.doctor.computer import check_disk, check_rights
from robot_client.doctor.kernel import check_kernel
from robot_client.doctor.lines import Line, fail, ok, warn
from robot_client.doctor.logout import check_logout
from robot_client.doctor.policy import check_bundle
from robot_client.holder.claim import owner
from robot_client.holder.client import ArmClient
from robot_client.holder.messages import Hold
from robot_client.holder.places import arms_directory, bus_claim


@dataclass(frozen=True, slots=True)
class Examination:
    """What to look at."""

    station: Station
    arm: Literal["left", "right", "both"] = "both"
    """One arm only: the other one's devices may be missing."""
    bundle: Path | None = None
    out: Path = Path("out")
    run_dir: str = ""
    net: Path = NET
    video: Path = VIDEO

    @property
    def sides(self) -> tuple[Arm, ...]:
        """Arms that are looked at."""
        return tuple(arm for arm in ARMS if self.arm in (arm, "both"))


def examine(examination: Examination) -> Iterator[Line]:
    """Every line, as it is found. Turns nothing on and writes to no motor."""
    station = examination.station
    if station.arms is None:
        yield ok(f"station {station.name}", f'rig "{station.rig}": no real arms to look at')
    else:
        yield from _arms(examination)
        yield from check_cameras(station, examination.video)
        yield from check_logout()
    if examination.bundle is not None:
        yield from check_bundle(station, examination.bundle)
    yield from check_rights()
    yield from check_kernel()
    yield from check_disk(examination.out)


def _arms(examination: Examination) -> Iterator[Line]:
    arms = examination.station.arms
    if arms is None:
        return
    from robot_client.doctor.limits import check_limits
    from robot_client.doctor.motors import check_motors, held_line

    for arm in examination.sides:
        yield from check_limits(f"{arm} arm", getattr(arms, arm), getattr(examination.station.safety, arm))
        yield _latency(examination.station, arm)
    holders = {arm: _holder(examination, arm) for arm in examination.sides}
    for arm, pid in holders.items():
        yield from _held(examination, arm, pid)
    if arms.bus == "emulated":
        yield warn("buses", "emulated: no real arm is looked at", 'set bus = "socketcan" for real arms')
        return
    units = {name: unit for name, unit in arms.units.items() if name.split()[0] in examination.sides}
    yield from check_buses(units, examination.net)
    idle: dict[str, ArmUnit | LeaderUnit] = {}
    for name, unit in units.items():
        held_by = holders[_side(name)] if isinstance(unit, ArmUnit) else 0
        if held_by:
            yield held_line(name, unit.channel, held_by)
        elif usable(unit, examination.net):
            idle[name] = unit
    yield from check_motors(idle)


def _latency(station: Station, arm: Arm) -> Line:
    """Of the arm, from a command to its motion; cameras have their own."""
    measured = station.calibration.latencies.arms.get(arm) if station.calibration else None
    what = f"{arm} arm, latency"
    if measured is not None:
        return ok(what, f"{measured.latency_ms:g} ms, give or take {measured.uncertainty_ms:g}")
    told = "lead_by_latency is asked for and does nothing" if station.timing.lead_by_latency else "not calibrated"
    return warn(what, told, "yam-calibrate latency --rig station")


def _holder(examination: Examination, arm: Arm) -> int:
    return owner(_claim(examination, arm))


def _held(examination: Examination, arm: Arm, pid: int) -> Iterator[Line]:
    what = f"{arm} arm, holder"
    if not pid:
        yield ok(what, "none yet; yam-robot arms start")
        return
    folder = arms_directory(examination.station, examination.run_dir)
    client = ArmClient(folder, arm, _claim(examination, arm), MonotonicClock())
    try:
        state, _ = client.state()
    except RigError as error:
        yield fail(what, f"process {pid}: {error}", "it serves another station file; power it off there")
        return
    finally:
        client.close()
    if state.hold in (Hold.FALLING, Hold.DEAF):
        yield fail(what, state.reason, "support the arm, then yam-robot arms power-off")
    elif state.alarm:
        yield warn(what, state.alarm, "park the arm and let it cool")
    else:
        yield ok(what, f"process {pid}, {state.hold.value}: {state.reason}")


def _claim(examination: Examination, arm: Arm) -> Path:
    station = examination.station
    if station.arms is None:
        raise RigError("arms", expected="a section [arms]", got=f"station {station.name}")
    folder = arms_directory(station, examination.run_dir)
    return bus_claim(getattr(station.arms, arm).channel, station.arms.bus == "emulated", folder)


def _side(name: str) -> Arm:
    return "left" if name.startswith("left") else "right"
