"""`yam-robot`. Only what stops cleanly is imported before the first signal can come."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Final, NoReturn

_STOPS: Final = (signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Entry point. Exit code 0 for a run that went as asked, 1 for trouble in one line, 2 for a bad setting."""
    for number in _STOPS:
        signal.signal(number, _leave)
    try:
        _run()
    finally:
        # Python gives signals back to the system before it is gone, and a second Ctrl-C would kill what has ended well.
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
    sys.exit(0)
