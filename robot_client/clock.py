"""Time as the robot host's monotonic clock gives it. Every decision of the robot side takes it from here."""

from __future__ import annotations

import time
from typing import Final, Protocol

NS_PER_S: Final = 1_000_000_000
NS_PER_MS: Final = 1_000_000


class Clock(Protocol):
    """A monotonic clock that can be slept on."""

    def now_ns(self) -> int:
        """Nanoseconds since an arbitrary start; never goes back."""

    def sleep_until_ns(self, deadline_ns: int) -> None:
        """Return once `now_ns() >= deadline_ns`; at once when that is past."""


class MonotonicClock:
    """The host's CLOCK_MONOTONIC."""

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def sleep_until_ns(self, deadline_ns: int) -> None:
        while (left_ns := deadline_ns - time.monotonic_ns()) > 0:
            time.sleep(left_ns / NS_PER_S)


class FakeClock:
    """A clock that moves only when told to or slept on. `oversleep_ns` makes every sleep end late by that much."""

    def __init__(self, now_ns: int = 0) -> None:
        self._now_ns = now_ns
        self.oversleep_ns = 0

    def now_ns(self) -> int:
        return self._now_ns

    def advance(self, ns: int) -> None:
        """Move forward by `ns` >= 0."""
        if ns < 0:
            raise ValueError(f"a monotonic clock cannot go back by {-ns} ns")
        self._now_ns += ns

    def sleep_until_ns(self, deadline_ns: int) -> None:
        self._now_ns = max(self._now_ns, deadline_ns + self.oversleep_ns)
