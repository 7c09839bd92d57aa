"""The operator's keys, read one at a time without waiting and without Enter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from contract.errors import ConfigurationError
from robot_client.terminal_keys import TerminalKeys

HELP = "y success, n failure, space hold, r repeat this run"


class Keys(Protocol):
    """Where keys come from."""

    def pressed(self, timeout_s: float = 0.0) -> str:
        """The next key, waiting up to `timeout_s` for it; empty when there was none."""


class NoKeys:
    """For a rig that judges itself, with nobody there."""

    def pressed(self, timeout_s: float = 0.0) -> str:
        return ""


class OperatorKeys:
    """Keys of a terminal one by one. Made by `terminal_keys`."""

    def __init__(self, terminal: TerminalKeys) -> None:
        self._terminal, self._typed = terminal, ""

    def pressed(self, timeout_s: float = 0.0) -> str:
        """What was typed beyond the first key is there at once the next time."""
        self._typed = self._typed or self._terminal.take(timeout_s)
        key, self._typed = self._typed[:1], self._typed[1:]
        return key


@contextmanager
def terminal_keys() -> Iterator[OperatorKeys]:
    """The terminal in single-key mode for the time of the block; Ctrl-C keeps its meaning.

    Raises `ConfigurationError` when standard input is no terminal.
    """
    with TerminalKeys() as terminal:
        if not terminal.present:
            raise ConfigurationError(
                "standard input",
                expected="a terminal for the operator's keys",
                got="none",
                remedy="run it in a terminal",
            )
        yield OperatorKeys(terminal)
