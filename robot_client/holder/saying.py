"""Lines of a holder for its log. A log that takes nothing more (a full memory file system) ends nothing."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TextIO

from robot_client.clock import NS_PER_S

_REMEMBERED: Final = 16
_AGAIN_NS: Final = 60 * NS_PER_S


def say_line(text: str, stream: TextIO | None = None) -> None:
    """One line, or none where it cannot be written: an arm must not fall for want of a log.

    A signal's line in the middle of another one is a RuntimeError of the stream.
    """
    with suppress(OSError, RuntimeError, ValueError):
        print(text, file=sys.stdout if stream is None else stream, flush=True)


@dataclass(slots=True)
class Saying:
    """Lines for the log: what is new is said at once, the same line again at most once a minute. Remembers few."""

    name: str
    _said: dict[str, int] = field(default_factory=dict)

    def say(self, text: str, now_ns: int) -> None:
        """One line."""
        if text and now_ns - self._said.get(text, -_AGAIN_NS) >= _AGAIN_NS:
            self._said.pop(text, None)
            self._said[text] = now_ns
            while len(self._said) > _REMEMBERED:
                del self._said[next(iter(self._said))]
            say_line(f"holder {self.name}: {text}")
