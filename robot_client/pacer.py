"""A fixed grid of absolute deadlines. What is missed is skipped in whole periods and counted, never caught up."""

from __future__ import annotations

from dataclasses import dataclass

from robot_client.clock import Clock


@dataclass(frozen=True, slots=True)
class Beat:
    """One tick's place on the grid."""

    deadline_ns: int
    lateness_ns: int
    """Start after the deadline; below one period."""
    skipped: int
    """Whole periods left out just before this one."""


class Pacer:
    """Deadlines at start + n * period."""

    def __init__(self, clock: Clock, period_ns: int) -> None:
        self._clock, self._period_ns = clock, period_ns
        self._next_ns = 0

    def start(self) -> None:
        """The grid begins now; the first deadline is one period away."""
        self._next_ns = self._clock.now_ns() + self._period_ns

    def wait(self) -> Beat:
        """Sleep to the next deadline that is not missed by a whole period."""
        self._clock.sleep_until_ns(self._next_ns)
        now_ns = self._clock.now_ns()
        skipped = (now_ns - self._next_ns) // self._period_ns
        deadline_ns = self._next_ns + skipped * self._period_ns
        self._next_ns = deadline_ns + self._period_ns
        return Beat(deadline_ns, now_ns - deadline_ns, skipped)
