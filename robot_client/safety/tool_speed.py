"""No arm's tool centre faster than the station allows (0.25 m/s until a station raises it)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import ARMS, Arm, arm_of, joints_of
from robot_client.safety.interval import Interval
from robot_client.safety.kinematics import tool_jacobian

Array = NDArray[np.float64]

_SHARE: Final = 0.97
"""Of the limit: the Jacobian is that of the period's start, and the arm turns a little during it."""


def slowed(
    position: Array, before: Array, wanted: Array, allowed: Interval, step: Array, limit_m_s: float
) -> tuple[Array, NDArray[np.bool_]]:
    """Speeds (14,) with both tools within `limit_m_s`, and a mask (14,) of the arms that were slowed.

    `position`, `before` and `wanted` are told's position and speed and the speed of the coming period; `allowed` its
    interval; `step` the largest change of speed in a period. All joints of an arm are slowed together, so that it
    stays on its way: from `wanted` back towards an even braking of `before`. Where even that is too fast (the arm
    stretches while it turns) the braking is what is told; it comes below the limit as fast as the motors may.
    """
    speed, changed = wanted.copy(), np.zeros(wanted.shape, bool)
    for arm in ARMS:
        _, jacobian = tool_jacobian(joints_of(position, arm))
        slow = _braked(before, step, allowed, arm)
        share = _share(jacobian, slow, joints_of(wanted, arm), _SHARE * limit_m_s)
        if share < 1.0:
            joints_of(speed, arm)[:] = slow + share * (joints_of(wanted, arm) - slow)
            arm_of(changed, arm)[:] = True
    return speed, changed


def _braked(before: Array, step: Array, allowed: Interval, arm: Arm) -> Array:
    """All joints of the arm slowed by one factor, as far as the weakest motor can, and inside the interval."""
    speed, most = joints_of(before, arm), joints_of(step, arm)
    moving = np.abs(speed) > 1e-12
    factor = max(0.0, 1.0 - float(np.min(most[moving] / np.abs(speed[moving]), initial=1.0)))
    low, high = joints_of(allowed.low, arm), joints_of(allowed.high, arm)
    return np.clip(factor * speed, low, high)


def _share(jacobian: Array, slow: Array, wanted: Array, limit_m_s: float) -> float:
    """Largest share 0..1 of the way from `slow` to `wanted` at which the tool keeps the limit; 0 when none does."""
    start, way = jacobian @ slow, jacobian @ (wanted - slow)
    a, b, c = float(way @ way), float(start @ way), float(start @ start) - limit_m_s**2
    if a + 2.0 * b + c <= 0.0:
        return 1.0
    if c >= 0.0:
        return 0.0
    return (-b + (b * b - a * c) ** 0.5) / a
