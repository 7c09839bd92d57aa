"""`yam-robot doctor` and `yam-robot arms`: looking at real arms, and starting, holding and letting them go by hand."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Final, Literal

import tyro

from contract.errors import RigError
from contract.layout import Arm
from contract.station import load_station
from robot_client.commands import app
from robot_client.holder.hand_stop import HandStop
from robot_client.rigs.base import Stop

__all__ = ["app"]

_SETTLE_S: Final = 3.0
_POLL_S: Final = 0.05
_WORD: Final = "supported"
_STOPS: Final = {"hold": Stop.HOLD, "relax": Stop.RELAX, "power-off": Stop.POWER_OFF}


@app.command
def doctor(
    station: str,
    arm: Literal["left", "right", "both"] = "both",
    bundle: Path | None = None,
    out: Path = Path("out"),
    run_dir: str = "",
    json: bool = False,
) -> None:
    """Look at everything a run on real arms needs; turns nothing on. Exit code 1 when something must be mended first.

    Args:
        station: name of a shipped station or path of a station file.
        arm: one arm only, when the other one is not there.
        bundle: folder of a policy: does it fit this station?
        out: where episodes will go.
        run_dir: folder of the holders' mailboxes; default: the station's.
        json: for programs.
    """
    from robot_client.doctor.examine import Examination, examine
    from robot_client.doctor.lines import as_json, failed

    lines = []
    for line in examine(Examination(load_station(station), arm, bundle, out, run_dir)):
        lines.append(line)
        if not json:
            print(line, flush=True)
    if json:
        print(as_json(lines))
    sys.exit(1 if failed(lines) else 0)


@app.command
def arms(
    act: Annotated[Literal["start", "state", "hold", "relax", "power-off"], tyro.conf.Positional],
    station: str,
    arm: Literal["left", "right", "both"] = "both",
    run_dir: str = "",
    confirm: str = "",
) -> None:
    """Start the holders of real arms, look at them, or let go of arms that lie at rest.

    Args:
        act: start (torque on, held where they are), state, hold, relax (gravity compensated) or power-off.
        station: name of a shipped station or path of a station file.
        arm: which.
        run_dir: folder of the holders' mailboxes; default: the station's.
        confirm: "supported" says that the arms lie or are held; relax and power-off ask for it otherwise.
    """
    chosen: tuple[Arm, ...] = ("left", "right") if arm == "both" else (arm,)
    if act == "start":
        _start(station, run_dir, chosen)
    elif act == "state":
        sys.exit(_show(station, run_dir, chosen))
    else:
        _stop(station, run_dir, chosen, _STOPS[act], confirm)


@app.command
def park(station: str, run_dir: str = "", realtime: bool = True) -> None:
    """Take real arms to the station's park pose, slowly and within all limits. Ctrl-C stops and holds.

    Args:
        station: name of a shipped station or path of a station file.
        run_dir: folder of the holders' mailboxes; default: the station's.
        realtime: ask for SCHED_FIFO and locked memory.
    """
    from robot_client.parking import Parking

    sys.exit(0 if Parking(station, run_dir, realtime, print).run() else 1)


def _start(station: str, run_dir: str, chosen: tuple[Arm, ...]) -> None:
    from robot_client.demo.interrupt import Interrupt
    from robot_client.holder.start import start_holders

    with Interrupt() as interrupt:  # broken off half way, arms would come up with nobody told
        try:
            started = start_holders(station, run_dir, chosen)
        except RigError as error:
            print(f"yam-robot: {error}")
            _show(station, run_dir, chosen)
            sys.exit(1)
        for arm, holder in started.items():
            print(f"{arm} arm: {'was there before: ' if holder.adopted else 'started: '}process {holder.pid}")
        _show(station, run_dir, chosen)  # one that was there may be relaxed
        sys.exit(1 if interrupt.asked else 0)


def _show(station: str, run_dir: str, chosen: tuple[Arm, ...]) -> int:
    from robot_client.holder.account import account

    lines, held = account(load_station(station), run_dir, chosen)
    for line in lines:
        print(line)
    return 0 if held else 1


def _stop(station: str, run_dir: str, chosen: tuple[Arm, ...], how: Stop, confirm: str) -> None:
    from robot_client.holder.start import clients

    confirmed = how is not Stop.HOLD and _confirmed(how, confirm)
    seen = {arm: client for arm, client in clients(load_station(station), run_dir).items() if arm in chosen}
    stops: dict[Arm, HandStop] = {}
    for arm, client in seen.items():
        stop = HandStop(client, how)
        try:
            stop.ask(confirmed)
            stops[arm] = stop
        except RigError as error:
            if how is not Stop.HOLD and not stops:
                raise  # nothing was asked of any arm
            print(f"yam-robot: {error}")  # and of the other arm it is said what came of it
    end = time.monotonic() + _SETTLE_S
    while time.monotonic() < end and not all([stop.heard for stop in stops.values()]):
        time.sleep(_POLL_S)
    time.sleep(_POLL_S)  # a client that drives an arm takes a moment to see that it was held
    obeyed = len(stops) == len(seen) and all([stop.obeyed for stop in stops.values()])
    for arm, stop in stops.items():
        if process := stop.client_that_saw:
            print(f"{arm} arm: held; its client, process {process}, has seen it and stays there until a person goes on")
    for client in seen.values():
        client.close()
    _show(station, run_dir, chosen)
    sys.exit(0 if obeyed else 1)


def _confirmed(how: Stop, confirm: str) -> bool:
    if how is Stop.POWER_OFF:
        print("The arms have no brakes: without power they fall unless they lie or are held.")
    if not confirm:
        print(f'Type "{_WORD}" when the arms lie or somebody holds them: ', end="", flush=True)
    given = confirm or sys.stdin.readline()  # empty where nobody can type
    if given.strip().lower() != _WORD:
        raise RigError(f"{how.value} of the arms", expected=f'"{_WORD}"', got=repr(given), remedy="they stay held")
    return True
