"""`python -m robot_client.holder --station NAME --arm left`: hold one arm. `robot_client.holder.start` starts it.

Standard output begins with "holding ARM pid=N" once the arm has torque; before that the exit code 2 and a line on
standard error say why it has none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import tyro

from contract.errors import StackError
from contract.layout import Arm
from contract.station import load_station
from robot_client.clock import MonotonicClock
from robot_client.holder.places import arms_directory, bus_claim
from robot_client.holder.process import HolderProcess, run_holder
from robot_client.holder.rules import arms_of, rules_of
from robot_client.holder.saying import say_line
from robot_client.realtime import take_rights

_PLACES: Mapping[Arm, int] = {"left": 1, "right": 2}


@dataclass
class Arguments:
    """Hold one arm of a station until it is powered off."""

    station: str
    """Name of a shipped station or path of a station file."""
    arm: Annotated[Arm, tyro.conf.arg(help="which arm")]
    run_dir: str = ""
    """Folder of the mailboxes; default: one per user and station in shared memory."""
    realtime: bool = True
    """Ask for SCHED_FIFO, locked memory and a frozen collector."""


def main() -> int:
    """Entry point."""
    arguments = tyro.cli(Arguments, prog="python -m robot_client.holder")
    code = 2
    try:
        code = run_holder(_process(arguments))
    except Exception as error:  # an outermost main: whatever it is, it is said and this process does not linger
        say_line(f"holder: {error if isinstance(error, StackError) else repr(error)}", sys.stderr)
    # i2rt's threads are no daemons: after a failed start or a dead bus they could keep this process for ever.
    os._exit(code)


def _process(arguments: Arguments) -> HolderProcess:
    station = load_station(arguments.station)
    arms, unit = arms_of(station), getattr(arms_of(station), arguments.arm)
    folder = arms_directory(station, arguments.run_dir)
    emulated = arms.bus == "emulated"
    from robot_client.rigs.yam_driver import YamDriver

    if arguments.realtime:
        rights = "; ".join(f"{name} {answer}" for name, answer in take_rights(_PLACES[arguments.arm]).items())
        say_line(f"holder {arguments.arm}: {rights}")
    if emulated:
        from robot_client.emulator.port import EmulatorPort

        aside = EmulatorPort(folder, arguments.arm, unit).open()
        say_line(f"holder {arguments.arm}: EMULATED motors on {unit.channel}")
    else:
        aside = _nothing
    return HolderProcess(
        folder,
        bus_claim(unit.channel, emulated, folder),
        rules_of(station, arguments.arm),
        YamDriver(unit, arguments.arm),
        MonotonicClock(),
        aside,
    )


def _nothing() -> None:
    """No emulator beside real arms."""


if __name__ == "__main__":
    sys.exit(main())
