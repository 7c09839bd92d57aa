"""One interval of allowed speeds per channel. All functions are elementwise over arrays of any shape (..., 14).

Speeds v are those of the coming period: position + v * period is the next target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_client.safety.limits import Limits, Told

TOLERANCE = 1e-9
"""Rounding, not a change: below any motor's resolution by four orders of magnitude."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """Speeds low..high."""

    low: Array
    high: Array

    def violated_by(self, speed: Array) -> NDArray[np.bool_]:
        """Where `speed` lies outside."""
        return (speed < self.low - TOLERANCE) | (speed > self.high + TOLERANCE)

    def narrowed(self, other: Interval) -> tuple[Interval, NDArray[np.bool_]]:
        """The common part; where there is none, the point of this one nearest to the other, and True."""
        low, high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)
        nearest = np.where(other.low > self.high, self.high, self.low)
        none = low > high
        empty = low > high + TOLERANCE
        return Interval(np.where(none, nearest, low), np.where(none, nearest, high)), empty


def differ(one: Array, other: Array | float) -> NDArray[np.bool_]:
    """Where they are apart by more than rounding."""
    return np.abs(one - other) > TOLERANCE


def clipped(values: Array, low: Array | float, high: Array | float) -> Array:
    """As np.clip, at a third of its price for small arrays; the upper end wins where they contradict each other."""
    return np.minimum(np.maximum(values, low), high)


def stopping_speed(distance: Array, acceleration: Array, period_s: float) -> Array:
    """Highest speed of the coming period from which braking still stops within `distance` (0 where that is negative).

    v^2 <= 2 a d must hold after the period, when d has become distance - v * period; solved for v. From such a speed,
    v - a * period is again such a speed, so the interval of braking and acceleration is never empty.
    """
    step = acceleration * period_s
    return np.sqrt(step * step + 2.0 * acceleration * np.maximum(distance, 0.0)) - step


def speed_interval(limits: Limits) -> Interval:
    """|v| <= the speed limit."""
    return Interval(-limits.speed, limits.speed)


def braking_interval(told: Told, limits: Limits) -> Interval:
    """Fast enough to stop before both position limits; outside of them only inward."""
    return Interval(
        -stopping_speed(told.position - limits.lower, limits.acceleration, limits.period_s),
        stopping_speed(limits.upper - told.position, limits.acceleration, limits.period_s),
    )


def acceleration_interval(told: Told, limits: Limits) -> Interval:
    """Within one period's acceleration of the present speed."""
    step = limits.acceleration * limits.period_s
    return Interval(told.velocity - step, told.velocity + step)


def lead_interval(told: Told, measured: Array, limits: Limits) -> Interval:
    """The next target no further than the lead from the measured position."""
    away = measured - told.position
    return Interval((away - limits.lead) / limits.period_s, (away + limits.lead) / limits.period_s)
