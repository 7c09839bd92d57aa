"""A fixed grid of absolute deadlines: how many periods are due, and which were given up."""

from __future__ import annotations


class Pacer:
    """Counts periods of `period_ns` from `start_ns`. Takes the time as an argument; never reads a clock.

    When more than `most` periods are due at once, the rest is skipped and counted in `skipped`: late work is never
    made up in an unbounded burst, and the grid does not shift.
    """

    def __init__(self, start_ns: int, period_ns: int, most: int) -> None:
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
