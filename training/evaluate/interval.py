"""Rates with their uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z = 1.959964
"""97.5th percentile of the normal distribution: two-sided 95 %."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Successes of trials with Wilson's 95 % interval (Wilson 1927)."""

    successes: int
    trials: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.successes / self.trials

    def __str__(self) -> str:
        return f"{self.successes}/{self.trials} = {self.value:.1%} ({self.low:.1%} .. {self.high:.1%})"


def wilson(successes: int, trials: int) -> Rate:
    """The rate of at least one trial."""
    share, square = successes / trials, _Z * _Z
    centre = (share + square / (2 * trials)) / (1 + square / trials)
    half = _Z / (1 + square / trials) * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    # At the ends the formula is exactly 0 and 1, but not in floating point.
    low = 0.0 if successes == 0 else centre - half
    return Rate(successes, trials, low, 1.0 if successes == trials else centre + half)
