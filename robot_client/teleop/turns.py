"""Angles are modular (B27): turns lost at power-up, seams in a stream, sweeps across the encoder's seam."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contract.errors import RefusedError

TURN_RAD: Final = 2.0 * pi
_LONGEST_STEP_RAD: Final = 1.0
"""Between two samples of a sweep; with more, nobody knows which way round the joint went."""


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

    Raises `RefusedError` when samples are too far apart to know the way, or when the sweep covers a whole turn.
    """
    raw = np.asarray(samples, np.float64)
    if raw.size < 2 or not np.isfinite(raw).all():
        raise RefusedError("sweep", expected="two or more finite angles", got=raw.size, remedy="move the joint again")
    steps = shortest(raw[:-1], raw[1:])
    if np.abs(steps).max() > _LONGEST_STEP_RAD:
        raise RefusedError(
            "sweep",
            expected=f"steps of at most {_LONGEST_STEP_RAD:g} rad",
            got=f"{np.abs(steps).max():.2f} rad",
            remedy="move the joint more slowly from one stop to the other",
        )
    course = raw[0] + np.concatenate([[0.0], np.cumsum(steps)])
    low, high = float(course.min()), float(course.max())
    if high - low >= TURN_RAD:
        raise RefusedError(
            "sweep", expected="less than a turn", got=f"{high - low:.2f} rad", remedy="this joint has no two stops"
        )
    return low, high
