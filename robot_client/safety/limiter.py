"""The limiter: asked -> told, and why they differ.

Order of rank where limits contradict each other: speed, braking distance to the position limits, acceleration, lead
over measured. The first three never do on the way from rest; the lead can (an arm that is held back suddenly), and is
counted. Then each arm is slowed as a whole to its tool's speed limit. Distance checks (workspace, arm to arm, arm to
station) will take a `Verdict` and give one, after this file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_client.safety.interval import (
    TOLERANCE,
    Array,
    Interval,
    acceleration_interval,
    braking_interval,
    lead_interval,
    speed_interval,
    stopping_speed,
)
from robot_client.safety.limits import Clip, Limits, Told, Verdict
from robot_client.safety.tool_speed import slowed


def limit(told: Told, asked: Array, measured: Array, limits: Limits) -> Verdict:
    """The next target for `asked`, all (..., 14); `asked` has passed `robot_client.safety.veto`."""
    goal = np.clip(asked, np.minimum(limits.lower, told.position), np.maximum(limits.upper, told.position))
    ranked = (
        (Clip.SPEED, speed_interval(limits)),
        (Clip.BRAKING, braking_interval(told, limits)),
        (Clip.ACCELERATION, acceleration_interval(told, limits)),
        (Clip.LEAD, lead_interval(told, measured, limits)),
    )
    allowed, empty = _intersection([interval for _, interval in ranked])
    speed = np.clip(_wanted_speed(told, goal, limits), allowed.low, allowed.high)
    speed, slow = _tool_slowed(told, speed, allowed, limits)
    position = _moved(told, speed, limits)
    clips = _reasons(told, goal, position, ranked, limits)
    clips |= np.where(empty, int(Clip.EMPTY), 0) | np.where(slow, int(Clip.TOOL_SPEED), 0)
    clips |= np.where(np.abs(asked - goal) > TOLERANCE, int(Clip.LIMIT), 0)
    return Verdict(Told(position, speed, np.array(goal)), clips.astype(np.uint8))


def brake(told: Told, limits: Limits) -> Verdict:
    """One period of braking as hard as allowed; a target at rest stays exactly where it is, whatever is measured."""
    step = limits.acceleration * limits.period_s
    speed = told.velocity - np.clip(told.velocity, -step, step)
    position = _moved(told, speed, limits)
    return Verdict(Told(position, speed, position.copy()), np.zeros(position.shape, np.uint8))


def at_rest(told: Told) -> bool:
    """Whether every channel stands."""
    return not told.velocity.any()


def _tool_slowed(told: Told, speed: Array, allowed: Interval, limits: Limits) -> tuple[Array, NDArray[np.bool_]]:
    if not np.isfinite(limits.tool_speed_m_s):
        return speed, np.zeros(speed.shape, bool)
    step = limits.acceleration * limits.period_s
    return slowed(told.position, told.velocity, speed, allowed, step, limits.tool_speed_m_s)


def _intersection(intervals: list[Interval]) -> tuple[Interval, NDArray[np.bool_]]:
    allowed, any_empty = intervals[0].narrowed(intervals[1])
    for interval in intervals[2:]:
        allowed, empty = allowed.narrowed(interval)
        any_empty = any_empty | empty
    return allowed, any_empty


def _wanted_speed(told: Told, goal: Array, limits: Limits) -> Array:
    """Speed that follows `goal` exactly while it moves as before, and closes a gap no faster than it can stop.

    Seen from a point that moves with the asked speed, the rest of the way must be stoppable: a jump of the target is
    reached without running past it, and a smooth target is followed without lag.

    A gap of rounding is left alone. Closing it within one period takes speed that cannot be given back while the target
    brakes or accelerates as hard as allowed, so on a course that was limited here before, which does that for long
    stretches, an error of the last digit would grow to 0.2 rad.
    """
    asked_speed = np.clip((goal - told.asked) / limits.period_s, -limits.speed, limits.speed)
    gap = goal - told.position - asked_speed * limits.period_s
    gap = np.where(np.abs(gap) > TOLERANCE, gap, 0.0)
    return asked_speed + np.sign(gap) * stopping_speed(np.abs(gap), limits.acceleration, limits.period_s)


def _moved(told: Told, speed: Array, limits: Limits) -> Array:
    """The next position; rounding never carries it over a limit."""
    lower, upper = np.minimum(limits.lower, told.position), np.maximum(limits.upper, told.position)
    return np.clip(told.position + speed * limits.period_s, lower, upper)


def _reasons(
    told: Told, goal: Array, position: Array, ranked: tuple[tuple[Clip, Interval], ...], limits: Limits
) -> NDArray[np.int64]:
    """Every limit that going straight to `goal` would have broken, where it was not reached."""
    needed = (goal - told.position) / limits.period_s
    bits = np.zeros(position.shape, np.int64)
    for reason, interval in ranked:
        bits |= np.where(interval.violated_by(needed), int(reason), 0)
    bits = np.where(bits == 0, int(Clip.ACCELERATION), bits)
    return np.where(np.abs(position - goal) > TOLERANCE, bits, 0)
