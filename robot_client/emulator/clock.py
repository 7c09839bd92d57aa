"""Emulated time: stands still while this process is not scheduled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

LONGEST_NS: Final = 10_000_000


class ScheduledClock:
    """`now_ns` advances with `clock_ns`, by at most 10 ms from one look to the next.

    Emulated motors live in the process that drives them. When a busy machine stops the whole process, real motors would
    let go; emulated ones had better not. A driver thread that stops alone is still found out, because somebody else
    keeps looking.
    """

    def __init__(self, clock_ns: Callable[[], int]) -> None:
        self._clock_ns, self._lock = clock_ns, threading.Lock()
        self._seen_ns = self._now_ns = clock_ns()

    def now_ns(self) -> int:
        """Nanoseconds of emulated time."""
        with self._lock:
            seen_ns = self._clock_ns()
            self._now_ns += min(seen_ns - self._seen_ns, LONGEST_NS)
            self._seen_ns = seen_ns
            return self._now_ns
