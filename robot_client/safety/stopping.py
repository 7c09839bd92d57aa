"""How arms are stopped: all joints of an arm slow down by one common scale, so that it stays on its way.

The scale is set by the joint whose motor needs longest; only a joint that would run past its position limit brakes
harder. A tool's speed then falls with the scale, where joints that cancel each other would let it rise if each braked
as hard as it can. Grippers brake by themselves. The law looks at nothing but position and speed, so the way to rest is
known from them, and can be judged before it is entered.
"""

from __future__ import annotations

import numpy as np

from contract.layout import JOINT_MASK, joints_of_both, per_arm
from robot_client.safety.interval import Array, Interval, clipped
from robot_client.safety.limits import Limits, Told

_STANDS: float = 1e-12
"""A lower speed than this is none [rad/s]."""


def stopped_speed(told: Told, limits: Limits, within: Interval) -> Array:
    """(..., 14) speed of the first period of stopping; `within` is told's `braking_interval`."""
    periods = braking_periods(told.velocity, limits)
    scale = np.where(periods > 1.0, 1.0 - 1.0 / np.maximum(periods, 1.0), 0.0)
    return clipped(told.velocity * scale, within.low, within.high)


def braking_periods(velocity: Array, limits: Limits) -> Array:
    """(..., 14) how many periods stopping takes: for joints that of the arm's slowest, for grippers their own."""
    needed = np.abs(velocity) / (limits.acceleration * limits.period_s)
    needed = np.where(np.abs(velocity) > _STANDS, needed, 0.0)
    return np.where(JOINT_MASK, per_arm(joints_of_both(needed).max(axis=-1)), needed)


def way_to_rest(told: Told, limits: Limits) -> tuple[Array, Array, Array]:
    """Displacements (..., 14) until rest; how far joints may leave the straight way, summed per arm (..., 2); seconds.

    The seconds (..., 14) are displacement over speed where no position limit shortens the way.
    """
    periods = braking_periods(told.velocity, limits)
    whole = np.floor(periods)
    seconds = (whole - whole * (whole + 1.0) / (2.0 * np.maximum(periods, 1.0))) * limits.period_s
    way = told.velocity * seconds
    lower = np.minimum(limits.lower - told.position, 0.0)
    upper = np.maximum(limits.upper - told.position, 0.0)
    kept = clipped(way, lower, upper)
    return kept, joints_of_both(np.abs(way - kept)).sum(axis=-1), seconds
