"""Progress lines with the time left."""

from __future__ import annotations

import time
from collections.abc import Callable


class Progress:
    """Counts steps and says how long the rest will take, at most every `every_s` seconds and at the end."""

    def __init__(
        self,
        total: int,
        done: int = 0,
        what: str = "steps",
        every_s: float = 10.0,
        say: Callable[[str], None] = print,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._done, self._first = total, done, done
        self._what, self._every_s, self._say, self._clock = what, every_s, say, clock
        self._start = self._said = clock()

    def step(self, note: str = "", count: int = 1) -> None:
        """`count` more are done."""
        self._done += count
        now = self._clock()
        if now - self._said < self._every_s and self._done < self._total:
            return
        self._said = now
        self._say(f"{self._done} of {self._total} {self._what}, {self._left(now)} left  {note}".rstrip())

    def _left(self, now: float) -> str:
        made = self._done - self._first
        seconds = round((now - self._start) / max(made, 1) * (self._total - self._done))
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
