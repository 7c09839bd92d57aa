"""`yam-robot`. Only what stops cleanly is imported before the first signal can come."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Final, NoReturn

from robot_client.run_over import RunOver

_STOPS: Final = (signal.SIGINT, signal.SIGTERM)
_RUNS: Final = ("demo", "run", "teleop")
"""A person ends these when they like; every other command that is stopped has not done what it was asked to."""


def main() -> None:
    """Entry point. Exit code 0 for what went as asked, 1 for trouble in one line, 2 for a bad setting; 130 or 143 when
    SIGINT or SIGTERM stopped a command that has no end of its own for them."""
    for number in _STOPS:
        signal.signal(number, _leave)
    try:
        _run()
    except RunOver as over:
        _ignore_stops()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(over.code or 0))
    finally:
        _ignore_stops()


def _ignore_stops() -> None:
    """Python gives signals back to the system before it is gone, and a second Ctrl-C would kill what has ended well."""
    for number in _STOPS:
        signal.signal(number, signal.SIG_IGN)


def _run() -> None:
    from contract.errors import ConfigurationError, StackError
    from contract.reader_gone import quiet_when_nobody_reads
    from robot_client.teleop_commands import app

    try:
        with quiet_when_nobody_reads():
            app.cli(prog="yam-robot")
    except StackError as error:
        print(f"yam-robot: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ConfigurationError) else 1)


def _leave(signum: int, frame: FrameType | None) -> NoReturn:
    if sys.argv[1:2] and sys.argv[1] in _RUNS:
        sys.exit(0)
    print(f"yam-robot: stopped by {signal.Signals(signum).name}", file=sys.stderr)
    sys.exit(128 + signum)
