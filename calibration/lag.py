"""By how much one signal comes after another: the shift at which their speeds correlate best, finer than a sample."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError

MOST_S: Final = 0.5
"""Longest delay that is looked for."""
LEAST_CORRELATION: Final = 0.9
LEAST_SAMPLES: Final = 40
_COARSE_S: Final = 0.004
_FINE_S: Final = 0.0005
_PIECES: Final = 4


@dataclass(frozen=True, slots=True)
class Lag:
    """One measured delay."""

    seconds: float
    uncertainty_s: float
    """Half the 95 % interval of the mean of quarters of the record, each measured by itself."""
    correlation: float


@dataclass(frozen=True, slots=True, eq=False)
class Signal:
    """Something over time."""

    times_s: NDArray[np.float64]
    """(n,) rising."""
    values: NDArray[np.float64]
    """(n,)"""

    def between(self, start_s: float, end_s: float) -> Signal:
        """What lies in a span."""
        inside = (self.times_s >= start_s) & (self.times_s <= end_s)
        return Signal(self.times_s[inside], self.values[inside])


def signal(times_ns: NDArray, values: NDArray) -> Signal:
    """From stamps (n,); of readings with one stamp the first counts, and what was not measured is left out."""
    stamps, first = np.unique(np.asarray(times_ns, np.int64), return_index=True)
    kept = np.asarray(values, np.float64)[first]
    fine = np.isfinite(kept)
    return Signal(stamps[fine] / 1e9, kept[fine])


def lag_of(leader: Signal, follower: Signal, name: str) -> Lag:
    """Seconds by which `follower` comes after `leader`; its sign is of no matter, a camera may see it upside down.

    Raises `ConfigurationError` when nothing moved, or when the two are not alike at any shift.
    """
    if min(len(leader.times_s), len(follower.times_s)) < LEAST_SAMPLES or not np.ptp(leader.values) > 0:
        raise ConfigurationError(
            f"latency of {name}", expected=f"{LEAST_SAMPLES} samples or more of something that moves",
            got=f"{len(leader.times_s)} and {len(follower.times_s)}", remedy="move it for longer",
        )  # fmt: skip
    seconds, alike = _best(leader, follower)
    if alike < LEAST_CORRELATION:
        raise ConfigurationError(
            f"latency of {name}", expected=f"signals alike to {LEAST_CORRELATION:g}", got=f"{alike:.2f}",
            remedy="check that it is this arm that moves before this camera, and move it further",
        )  # fmt: skip
    return Lag(seconds, _uncertainty(leader, follower, seconds), min(alike, 1.0))


def _best(leader: Signal, follower: Signal) -> tuple[float, float]:
    coarse = np.arange(-0.05, MOST_S, _COARSE_S)
    first = coarse[int(np.argmax([_alike(leader, follower, shift) for shift in coarse]))]
    fine = np.arange(first - 2 * _COARSE_S, first + 2 * _COARSE_S, _FINE_S)
    alike = np.array([_alike(leader, follower, shift) for shift in fine])
    # Near its top the correlation is a parabola; its vertex lies between the samples.
    curve = np.polyfit(fine - first, alike, 2)
    vertex = first - curve[1] / (2 * curve[0]) if curve[0] < 0 else fine[int(np.argmax(alike))]
    return float(np.clip(vertex, fine[0], fine[-1])), float(alike.max())


def _alike(leader: Signal, follower: Signal, shift_s: float) -> float:
    """Absolute correlation of follower(t) with leader(t - shift), of positions less their means."""
    at = follower.times_s - shift_s
    inside = (at >= leader.times_s[0]) & (at <= leader.times_s[-1])
    if inside.sum() < LEAST_SAMPLES // 4:
        return 0.0
    a = np.interp(at[inside], leader.times_s, leader.values)
    b = follower.values[inside]
    a, b = a - a.mean(), b - b.mean()
    both = float(np.linalg.norm(a) * np.linalg.norm(b))
    return abs(float(a @ b)) / both if both > 0 else 0.0


def _uncertainty(leader: Signal, follower: Signal, seconds: float) -> float:
    edges = np.linspace(follower.times_s[0], follower.times_s[-1], _PIECES + 1)
    pieces = [follower.between(a, b) for a, b in pairwise(edges)]
    moving = [one for one in pieces if len(one.times_s) >= LEAST_SAMPLES // 4 and np.ptp(one.values) > 0]
    if len(moving) < 2:
        return 0.0
    spread = float(np.std([_best(leader, one)[0] for one in moving], ddof=1))
    return 1.96 * spread / len(moving) ** 0.5
