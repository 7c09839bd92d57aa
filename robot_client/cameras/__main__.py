"""`python -m robot_client.cameras --config FILE`: one camera; ends with its standard input, or on SIGTERM.

Exit code 1 when the camera was given up, 2 when it could not be tried. `robot_client.cameras.start` starts it.
"""

from __future__ import annotations

import argparse
import select
import signal
import sys
from pathlib import Path

from contract.errors import ConfigurationError, StackError
from robot_client.cameras.config import read_camera_config
from robot_client.cameras.process import CameraProcess
from robot_client.cameras.source import make_source


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m robot_client.cameras", description="one camera")
    parser.add_argument("--config", type=Path, required=True)
    told: list[int] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
    try:
        config = read_camera_config(parser.parse_args().config)
        CameraProcess(config, make_source(config), lambda: bool(told) or _input_ended(), _say).run()
    except StackError as error:
        print(f"camera: {error}", file=sys.stderr, flush=True)
        return 2 if isinstance(error, ConfigurationError) else 1
    return 0


def _input_ended() -> bool:
    """Whoever started us is gone: it never writes."""
    return bool(select.select([sys.stdin], (), (), 0.0)[0])


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
