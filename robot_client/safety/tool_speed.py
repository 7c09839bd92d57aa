"""No arm's tool centre faster than the station allows (0.25 m/s until a station raises it)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import JOINT_MASK, joints_of_both, per_arm
from robot_client.safety.interval import Interval, clipped

Array = NDArray[np.float64]

_SHARE: Final = 0.97
"""Of the limit: the Jacobian is that of the period's start, and the arm turns a little during it."""


def slowed(
    jacobian: Array, stop: Array, wanted: Array, allowed: Interval, limit_m_s: float
) -> tuple[Array, NDArray[np.bool_]]:
    """Speeds (..., 14) with both tools within `limit_m_s`, and a mask (..., 14) of the arms that were slowed.

    `jacobian` (..., 2, 3, 6) is that of told's position; `stop` and `wanted` are the speeds of the coming period if the
    arm stopped and if nothing held it back; `allowed` is the interval of that period. All joints of an arm are slowed
    together, so that it stays on its way: from `wanted` back towards `stop`. Where even that is too fast (the arm
    stretches while it turns) the stop is what is told.
    """
    ways = (jacobian @ joints_of_both(wanted)[..., None])[..., 0]
    if (np.square(ways).sum(axis=-1) <= (_SHARE * limit_m_s) ** 2).all():
        return wanted, np.zeros(wanted.shape, bool)
    slow = clipped(stop, allowed.low, allowed.high)
    shares = _share(jacobian, joints_of_both(slow), joints_of_both(wanted), _SHARE * limit_m_s)
    share = per_arm(shares)
    changed = share < 1.0
    if not changed.any():
        return wanted, changed
    return np.where(changed & JOINT_MASK, slow + share * (wanted - slow), wanted), changed


def _share(jacobian: Array, slow: Array, wanted: Array, limit_m_s: float) -> Array:
    """(...) largest share 0..1 of the way from `slow` to `wanted` at which the tool keeps the limit; 0 if none does."""
    start, way = (jacobian @ slow[..., None])[..., 0], (jacobian @ (wanted - slow)[..., None])[..., 0]
    a, b = np.square(way).sum(axis=-1), (start * way).sum(axis=-1)
    c = np.square(start).sum(axis=-1) - limit_m_s**2
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    share = np.where(c >= 0.0, 0.0, (root - b) / np.maximum(a, 1e-18))
    return np.where(a + 2.0 * b + c <= 0.0, 1.0, clipped(share, 0.0, 1.0))
