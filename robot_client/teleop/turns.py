"""Angles are modular (B27): turns lost at power-up, seams in a stream, sweeps across the encoder's seam."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contract.errors import FieldError

TURN_RAD: Final = 2.0 * pi
_LONGEST_STEP_RAD: Final = 1.0
"""Between two samples of a sweep; with more, nobody knows which way round the joint went."""

_LEAP_RAD: Final = 0.5
"""From one reading to the next, which come a few milliseconds apart: no hand is that fast."""


def wrapped(angle: ArrayLike) -> NDArray[np.float64]:
    """The same angles in [-pi, pi)."""
    return (np.asarray(angle, np.float64) + pi) % TURN_RAD - pi


def shortest(start: ArrayLike, end: ArrayLike) -> NDArray[np.float64]:
    """The way from start to end of joints that turn for ever: from 3.13 to -3.13 it is 0.02, not -6.26."""
    return wrapped(np.asarray(end, np.float64) - np.asarray(start, np.float64))


def nearest_turn(angle: ArrayLike, reference: ArrayLike) -> NDArray[np.float64]:
    """The angle that reads the same within half a turn of `reference`: q, q + 2 pi and q - 2 pi give one answer."""
    return np.asarray(reference, np.float64) + shortest(reference, angle)


def sweep_range(samples: Sequence[float]) -> tuple[float, float]:
    """Lowest and highest angle of a calibration sweep, in the turn of its first sample, seams undone.

    Raises `FieldError` when samples are too far apart to know the way, or when the sweep covers a whole turn.
    """
    raw = np.asarray(samples, np.float64)
    if raw.size < 2 or not np.isfinite(raw).all():
        raise FieldError("sweep", expected="two or more finite angles", got=raw.size, remedy="move the joint again")
    steps = shortest(raw[:-1], raw[1:])
    if np.abs(steps).max() > _LONGEST_STEP_RAD:
        raise FieldError(
            "sweep",
            expected=f"steps of at most {_LONGEST_STEP_RAD:g} rad",
            got=f"{np.abs(steps).max():.2f} rad",
            remedy="move the joint more slowly from one stop to the other",
        )
    course = raw[0] + np.concatenate([[0.0], np.cumsum(steps)])
    low, high = float(course.min()), float(course.max())
    if high - low >= TURN_RAD:
        raise FieldError(
            "sweep", expected="less than a turn", got=f"{high - low:.2f} rad", remedy="this joint has no two stops"
        )
    return low, high


class Continuous:
    """A stream of joint readings (n,) as one course: in the turn nearest to `middle` at first, then without a leap.

    A reading that is a whole turn off is the same reading; one that leaps by more than `_LEAP_RAD` otherwise is a
    glitch and is left out. When leaps go on for `relatch_ns` the course begins anew where the joints are now; by then
    the leader is stale and the arms hold.
    """

    def __init__(self, middle: NDArray[np.float64], relatch_ns: int) -> None:
        self._middle, self._relatch_ns = np.array(middle, np.float64), relatch_ns
        self._last: NDArray[np.float64] | None = None
        self._good_ns = 0
        self.glitches = 0

    def take(self, raw: NDArray[np.float64], now_ns: int) -> NDArray[np.float64] | None:
        """The reading on its course; None for one that must not be believed."""
        if not np.isfinite(raw).all():
            self.glitches += 1
            return None
        stale = self._last is None or now_ns - self._good_ns > self._relatch_ns
        reference = self._middle if self._last is None or stale else self._last
        value = nearest_turn(raw, reference)
        if not stale and np.abs(value - reference).max() > _LEAP_RAD:
            self.glitches += 1
            return None
        self._last, self._good_ns = value, now_ns
        return value
