"""When a run must be over: one moment for everything that its end consists of."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

LONGEST_S: Final = 7.3
"""From the wish to end to the last line; what is left of 8 s is for Python to leave."""


class Deadline:
    """Counts from `begin`, or from a person's Ctrl-C when that came first. `asked_s()` is when it came, or infinity."""

    def __init__(self, asked_s: Callable[[], float], clock: Callable[[], float] = time.monotonic) -> None:
        self._asked_s, self._clock = asked_s, clock
        self._begun_s = math.inf

    def begin(self) -> None:
        """The end begins now."""
        self._begun_s = min(self._begun_s, self._clock())

    def left_s(self, at_most_s: float = math.inf, reserve_s: float = 0.0) -> float:
        """Time for the next step of the end, `reserve_s` before the deadline; never negative."""
        until_s = min(self._begun_s, self._asked_s()) + LONGEST_S - reserve_s
        return max(0.0, min(at_most_s, until_s - self._clock()))

    def patience_s(self) -> float:
        """How long a person waits who has asked to end; infinite while nobody has."""
        return max(0.0, self._asked_s() + LONGEST_S - self._clock())
