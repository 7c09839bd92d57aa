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
        self._at_leisure = False

    def begin(self, at_leisure: bool = False) -> None:
        """The end begins now. `at_leisure`: the run went as asked and nobody waits for its report."""
        self._begun_s, self._at_leisure = min(self._begun_s, self._clock()), at_leisure

    def left_s(self, at_most_s: float = math.inf, reserve_s: float = 0.0) -> float:
        """Time for the next step of the end, `reserve_s` before the deadline; never negative."""
        until_s = min(self._begun_s, self._asked_s()) + LONGEST_S - reserve_s
        return max(0.0, min(at_most_s, until_s - self._clock()))

    def patience_s(self) -> float:
        """How long the report may still take. Infinite only after a run that went as asked, until somebody asks."""
        begun_s = math.inf if self._at_leisure else self._begun_s
        return max(0.0, min(begun_s, self._asked_s()) + LONGEST_S - self._clock())
