"""A limit on the change of acceleration, for stations that ask for it. It is the first limit to give way."""

from __future__ import annotations

import numpy as np

from robot_client.safety.interval import Array, clipped, stopping_speed
from robot_client.safety.limits import Limits, Told


def eased(told: Told, wanted: Array, limits: Limits) -> Array:
    """(..., 14) the speed nearest to `wanted` that keeps the jerk limit and gets to `wanted` without shooting past it.

    Speed and acceleration stand to each other as way and speed do when braking: `stopping_speed` one order higher.
    """
    period_s, most = limits.period_s, limits.most_jerk * limits.period_s
    change = wanted - told.velocity
    near = np.abs(change) <= most * period_s
    soft = np.sign(change) * stopping_speed(np.abs(change), limits.most_jerk, period_s)
    acceleration = np.where(near, change / period_s, soft)
    acceleration = clipped(acceleration, told.acceleration - most, told.acceleration + most)
    return told.velocity + clipped(acceleration, -limits.acceleration, limits.acceleration) * period_s


def eased_stopping_speed(distance: Array, limits: Limits) -> Array:
    """(...) highest speed at which a target `distance` ahead is still come to without shooting past it.

    Braking by half the acceleration, v^2 / a, after building it up, v a / j: `eased` follows a falling speed with a
    lag, which braking by all of it would turn into a way of 0.2 rad past the target.
    """
    plain = stopping_speed(distance, limits.acceleration, limits.period_s)
    build_up = limits.acceleration**2 / (2.0 * limits.most_jerk)
    soft = np.sqrt(build_up**2 + limits.acceleration * np.maximum(distance, 0.0)) - build_up
    return np.minimum(plain, soft)
