"""A fixed grid of absolute deadlines. What is missed is skipped in whole periods and counted, never caught up."""

from __future__ import annotations

from dataclasses import dataclass

from robot_client.clock import Clock


class Periods:
    """Counts periods of `period_ns` from `start_ns`. Takes the time as an argument; never reads a clock.

    When more than `most` periods are due at once, the rest is skipped and counted in `skipped`: late work is never
    made up in an unbounded burst, and the grid does not shift.
    """

    def __init__(self, start_ns: int, period_ns: int, most: int = 1) -> None:
        self._start_ns, self._period_ns, self._most = start_ns, period_ns, most
        self._done = 0
        self.skipped = 0

    def due(self, now_ns: int) -> int:
        """Periods to do now, at most `most`; they count as done."""
        behind = (now_ns - self._start_ns) // self._period_ns - self._done
        if behind <= 0:
            return 0
        doing = min(behind, self._most)
        self.skipped += behind - doing
        self._done += behind
        return doing

    @property
    def next_ns(self) -> int:
        """Deadline of the next period."""
        return self._start_ns + (self._done + 1) * self._period_ns


@dataclass(frozen=True, slots=True)
class Beat:
    """One tick's place on the grid."""

    deadline_ns: int
    lateness_ns: int
    """Start after the deadline; below one period."""
    skipped: int
    """Whole periods left out just before this one."""


class Pacer:
    """Waits for one deadline after the other, at start + n * period."""

    def __init__(self, clock: Clock, period_ns: int) -> None:
        self._clock, self._period_ns = clock, period_ns
        self._periods = Periods(0, period_ns)

    def start(self) -> None:
        """The grid begins now; the first deadline is one period away."""
        self._periods = Periods(self._clock.now_ns(), self._period_ns)

    def wait(self) -> Beat:
        """Sleep to the next deadline that is not missed by a whole period."""
        before = self._periods.skipped
        self._clock.sleep_until_ns(self._periods.next_ns)
        now_ns = self._clock.now_ns()
        self._periods.due(now_ns)
        deadline_ns = self._periods.next_ns - self._period_ns
        return Beat(deadline_ns, now_ns - deadline_ns, self._periods.skipped - before)
