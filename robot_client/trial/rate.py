"""Rates and paired differences with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_Z: Final = 1.959964
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


@dataclass(frozen=True, slots=True)
class Paired:
    """Success of one method less that of another on the same layouts.

    `only_first`, `only_second`: layouts on which only that one succeeded. `low`, `high`: 95 % interval of the
    difference by Bonett and Price 2012 (adjusted Wald for paired shares). `p_value`: McNemar's exact test.
    """

    layouts: int
    only_first: int
    only_second: int
    difference: float
    low: float
    high: float
    p_value: float


def wilson(successes: int, trials: int) -> Rate:
    """The rate of at least one trial."""
    share, square = successes / trials, _Z * _Z
    centre = (share + square / (2 * trials)) / (1 + square / trials)
    half = _Z / (1 + square / trials) * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    # At the ends the formula is exactly 0 and 1, but not in floating point.
    low = 0.0 if successes == 0 else centre - half
    return Rate(successes, trials, low, 1.0 if successes == trials else centre + half)


def paired(first: Sequence[bool], second: Sequence[bool]) -> Paired:
    """The difference of two methods; entry k of both is the same layout. At least one layout."""
    pairs = list(zip(first, second, strict=True))
    count = len(pairs)
    only_first, only_second = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
    share_first, share_second = (only_first + 1) / (count + 2), (only_second + 1) / (count + 2)
    centre = share_first - share_second
    half = _Z * math.sqrt((share_first + share_second - centre * centre) / (count + 2))
    return Paired(
        count,
        only_first,
        only_second,
        (only_first - only_second) / count,
        max(-1.0, centre - half),
        min(1.0, centre + half),
        _mcnemar(only_first, only_second),
    )


def _mcnemar(one: int, other: int) -> float:
    """Two-sided exact p-value of discordant pairs that fall either way with equal chance."""
    discordant = one + other
    tail = sum(math.comb(discordant, k) for k in range(min(one, other) + 1)) / 2**discordant
    return min(1.0, 2.0 * tail)
