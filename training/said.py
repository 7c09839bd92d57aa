"""What a person said and is told: the command line, and lines of progress."""

from __future__ import annotations

import shlex
import sys


def command() -> str:
    """The command line, as a manifest states it."""
    return shlex.join(["yam-train", *sys.argv[1:]])


def say(line: str) -> None:
    """One line, at once, also into a pipe."""
    print(line, flush=True)
