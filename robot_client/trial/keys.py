"""The operator's keys, read one at a time without waiting and without Enter."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from contract.errors import ConfigurationError

HELP = "y success, n failure, space hold, r repeat this run"


class Keys(Protocol):
    """Where keys come from."""

    def pressed(self, timeout_s: float = 0.0) -> str:
        """The next key, waiting up to `timeout_s` for it; empty when there was none."""


class NoKeys:
    """For a rig that judges itself, with nobody there."""

    def pressed(self, timeout_s: float = 0.0) -> str:
        return ""


class TerminalKeys:
    """Keys of standard input. Made by `terminal_keys`."""

    def pressed(self, timeout_s: float = 0.0) -> str:
        """Straight from the terminal: what a buffer takes beyond the first key, `select` does not see any more."""
        readable, _, _ = select.select([sys.stdin], (), (), timeout_s)
        return os.read(sys.stdin.fileno(), 1).decode("ascii", errors="ignore") if readable else ""


@contextmanager
def terminal_keys() -> Iterator[TerminalKeys]:
    """The terminal in single-key mode for the time of the block; Ctrl-C keeps its meaning.

    Raises `ConfigurationError` when standard input is no terminal.
    """
    if not sys.stdin.isatty():
        raise ConfigurationError(
            "standard input", expected="a terminal for the operator's keys", got="none", remedy="run it in a terminal"
        )
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield TerminalKeys()
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
