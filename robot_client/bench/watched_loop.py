"""`python -m robot_client.bench.watched_loop`: the control loop's process with a clock that notes late ticks.

Takes the arguments of `robot_client.loop_process`; writes the notes as JSON to the file named by WATCHED_NOTES.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from robot_client import loop_process
from robot_client.bench.watched_clock import WatchedClock

NOTES: str = "WATCHED_NOTES"


def main() -> int:
    """Entry point."""
    clock = WatchedClock()
    try:
        return loop_process.main(clock)
    finally:
        Path(os.environ[NOTES]).write_text(json.dumps(clock.notes()), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
