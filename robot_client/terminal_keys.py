"""Single keys of a terminal, without waiting and without echo. Ctrl-C stays a signal."""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import tty
from types import TracebackType
from typing import Any, Final

_MOST: Final = 64
"""Bytes in one look; a person types fewer. Of a paste, or of a key held down while nobody looked, nothing is obeyed."""
_HOLD: Final = " "
"""What counts in its place: it is no good sign, and may have been this key."""
_WHOLE_S: Final = 0.02
"""An arrow's bytes come together."""
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-d~^$@]|O[A-Za-d])")
"""Arrows, function keys, brackets of a paste; none ends in a letter that stops anything."""
_UNFINISHED: Final = re.compile(r"\x1b(?:\[[0-9;]*|O)?$")


class TerminalKeys:
    """A context over standard input; where that is no terminal there are never any keys."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = descriptor
        self._before: list[Any] | None = None

    @property
    def present(self) -> bool:
        """There is a terminal to type at."""
        return self._before is not None

    def __enter__(self) -> TerminalKeys:
        try:
            descriptor = sys.stdin.fileno() if self._descriptor is None else self._descriptor
            if os.isatty(descriptor):
                self._before = termios.tcgetattr(descriptor)
                self._descriptor = descriptor
                # What was typed before, perhaps the next line of a paste into the shell, is no key of ours.
                tty.setcbreak(descriptor, termios.TCSAFLUSH)
                # Ctrl-S would stop our output, and with it whoever reads the keys.
                ours = termios.tcgetattr(descriptor)
                ours[tty.IFLAG] &= ~termios.IXON
                termios.tcsetattr(descriptor, termios.TCSANOW, ours)
        except (OSError, ValueError, termios.error):  # closed, or a terminal that is gone
            self._before = None
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._before is None or self._descriptor is None:
            return
        try:
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)
        except (OSError, termios.error):  # the terminal is gone, and with it what there was to put back
            self._before = None

    def take(self, timeout_s: float = 0.0) -> str:
        """Keys typed since the last call, waiting up to `timeout_s` for the first; escape sequences of arrows and the
        like are left out, and nothing else."""
        if self._before is None or self._descriptor is None:
            return ""
        try:
            text = self._read(self._descriptor, timeout_s)
            if _UNFINISHED.search(text):
                text += self._read(self._descriptor, _WHOLE_S)
        except (OSError, termios.error):
            return ""
        return _ESCAPE.sub("", text).replace("\x1b", "")

    @staticmethod
    def _read(descriptor: int, timeout_s: float) -> str:
        ready, _, _ = select.select([descriptor], [], [], timeout_s)
        typed = os.read(descriptor, _MOST) if ready else b""
        if len(typed) == _MOST:
            termios.tcflush(descriptor, termios.TCIFLUSH)
            return _HOLD
        return typed.decode("utf-8", errors="ignore")
