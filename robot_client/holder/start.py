"""Starts the holders of a station's arms, each in a session of its own, and lets them be."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.errors import RigError
from contract.layout import ARMS, Arm
from contract.station import Station, load_station
from robot_client.clock import MonotonicClock
from robot_client.holder.claim import owner
from robot_client.holder.client import ArmClient
from robot_client.holder.messages import TORQUE, ArmState, Hold
from robot_client.holder.places import arms_directory, bus_claim
from robot_client.holder.rules import arms_of
from robot_client.rigs.base import Stop

START_S: Final = 30.0
"""Motor checks, torque, the driver's model: about two seconds; more on a busy machine."""
_OFF_S: Final = 5.0
_ASK_S: Final = 0.25
_POLL_S: Final = 0.02
_TAIL_LINES: Final = 3
_LONG_LOG: Final = 1_000_000
"""Bytes of a log that make place for a new one."""


@dataclass(frozen=True, slots=True)
class Started:
    """One arm's holder. `adopted`: it was there before."""

    pid: int
    adopted: bool


def clients(station: Station, run_dir: str = "") -> dict[Arm, ArmClient]:
    """For looking at the arms, and for the one who commands them."""
    arms, folder = arms_of(station), arms_directory(station, run_dir)
    emulated = arms.bus == "emulated"
    return {
        arm: ArmClient(folder, arm, bus_claim(getattr(arms, arm).channel, emulated, folder), MonotonicClock())
        for arm in ARMS
    }


def start_holders(
    station_name: str, run_dir: str = "", arms: tuple[Arm, ...] = ARMS, realtime: bool = True
) -> dict[Arm, Started]:
    """Both arms held when it returns.

    Raises `RigError` naming an arm that has fallen, before anything is started, and with the end of the log when one
    cannot be held. Then the holders that this call started are asked to
    power off again, which they do where the arm still lies at rest: the arms are left as they were found.
    """
    station = load_station(station_name)
    folder = arms_directory(station, run_dir)
    claims = _claims(station, folder)
    seen = clients(station, run_dir)
    found = {arm: pid for arm in arms if (pid := _staying(claims[arm], seen[arm]))}
    for arm, pid in found.items():
        _require_not_fallen(arm, pid, seen[arm])
    fresh = {arm: _spawn(station_name, arm, folder, realtime) for arm in arms if arm not in found}
    failures = [text for arm, process in fresh.items() if (text := _failure(arm, process, folder, seen[arm]))]
    for client in seen.values():
        client.close()
    if failures:
        _undo(station, run_dir, {arm: process.pid for arm, process in fresh.items() if process.poll() is None})
        raise RigError("arms not started", got="; ".join(failures), remedy="yam-robot doctor looks at each part")
    return {
        **{arm: Started(pid, True) for arm, pid in found.items()},
        **{arm: Started(process.pid, False) for arm, process in fresh.items()},
    }


def held_arms(station: Station, run_dir: str = "") -> list[str]:
    """A line for each arm, all of them held. Raises `RigError` naming one that nobody holds: a person starts holders,
    because that is what gives the arms torque."""
    lines = []
    for arm, client in clients(station, run_dir).items():
        state, stamp_ns = client.state()
        if client.abandoned(stamp_ns) or state.hold not in TORQUE | {Hold.RELAXED}:
            raise RigError(
                f"{arm} arm", expected="held", got=f"no live holder: {state.reason}", remedy="yam-robot arms start"
            )
        lines.append(f"{arm} arm: {state.hold.value}, by process {state.holder}")
        client.close()
    return lines


def log_of(folder: Path, arm: str) -> Path:
    """Where a holder writes its lines."""
    return folder / f"{arm}.log"


def _staying(bus: Path, client: ArmClient) -> int:
    """The holder of a bus; 0 when there is none, also once one that has just powered its arm off is gone."""
    end = time.monotonic() + _OFF_S
    while (pid := owner(bus)) and time.monotonic() < end:
        try:
            state, _ = client.state()
        except RigError:
            break
        if state.hold is not Hold.OFF or state.holder != pid:
            break
        time.sleep(_POLL_S)
    client.close()
    return pid


def _require_not_fallen(arm: Arm, pid: int, client: ArmClient) -> None:
    """A holder whose arm fell lives on, so that a person can power it off; it holds nothing."""
    state = _published(client)
    client.close()
    if state is not None and state.holder == pid and state.hold is Hold.FALLING:
        remedy = f"support it, then yam-robot arms power-off --arm {arm}, mend what was named, and start again"
        raise RigError(f"{arm} arm", expected="held", got=f"process {pid}: {state.reason}", remedy=remedy)


def _claims(station: Station, folder: Path) -> Mapping[Arm, Path]:
    arms = arms_of(station)
    return {arm: bus_claim(getattr(arms, arm).channel, arms.bus == "emulated", folder) for arm in ARMS}


def _spawn(station_name: str, arm: Arm, folder: Path, realtime: bool) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "robot_client.holder", "--station", station_name, "--arm", arm]
    log = log_of(folder, arm)
    if log.is_file() and log.stat().st_size > _LONG_LOG:
        log.replace(log.with_suffix(".log.1"))
    # Appended, so that two starts at the same time do not write over each other's words.
    with log.open("ab") as out:
        return subprocess.Popen(
            [*command, "--run-dir", str(folder), "--realtime" if realtime else "--no-realtime"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _failure(arm: Arm, process: subprocess.Popen[bytes], folder: Path, client: ArmClient) -> str:
    """Why it did not start; empty once it holds."""
    log = log_of(folder, arm)
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if (state := _published(client)) is not None and state.holder == process.pid:
            return f"{arm} arm: {state.reason}" if state.hold is Hold.FALLING else ""
        if process.poll() is not None:
            lines = log.read_text(errors="replace").splitlines()
            return f"{arm} arm: {' '.join(lines[-_TAIL_LINES:]) or 'ended without a word'}"
        time.sleep(_POLL_S)
    # It holds nothing yet: the driver tries for ever to turn on a motor whose error does not clear.
    process.kill()
    process.wait()
    return f"{arm} arm: no torque within {START_S:g} s, given up; a motor may refuse to be turned on, see {log}"


def _published(client: ArmClient) -> ArmState | None:
    """A holder's own word counts, and not its log's: that one can be full, or have another holder's lines."""
    try:
        return client.state()[0]
    except RigError:
        return None


def _undo(station: Station, run_dir: str, started: Mapping[Arm, int]) -> None:
    """Power off the arms whose holder is still the process that this call started."""
    seen = clients(station, run_dir)
    end = time.monotonic() + _OFF_S
    while (on := [arm for arm, pid in started.items() if _on(seen[arm], pid)]) and time.monotonic() < end:
        for arm in on:  # again and again: an arm that just got torque moves a little and is not let go while it does
            with suppress(RigError):  # somebody else has taken that arm meanwhile, and it is theirs now
                seen[arm].stop(Stop.POWER_OFF, confirmed=True)
        time.sleep(_ASK_S)
    for client in seen.values():
        client.close()


def _on(client: ArmClient, pid: int) -> bool:
    state = _published(client)
    return state is not None and state.holder == pid and state.hold is not Hold.OFF
