"""The limiter: asked -> told, and why they differ.

Order of rank where limits contradict each other: speed, braking distance to the position limits, acceleration, lead
over measured, jerk. The first three never do on the way from rest; lead and jerk can, and are counted. Then each arm is
slowed as a whole to its tool's speed limit. Then `guard` looks at what was asked, and at the whole way to rest: box,
table, distances, tool speed. What is asked too near is not approached: the arm stops until it is asked elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contract.layout import ARMS, arm_of
from robot_client.safety.guard import judged, moved, passed
from robot_client.safety.interval import (
    Array,
    Interval,
    acceleration_interval,
    braking_interval,
    clipped,
    differ,
    lead_interval,
    speed_interval,
    stopping_speed,
)
from robot_client.safety.jerk import eased, eased_stopping_speed
from robot_client.safety.limits import Clip, Limits, Told, Verdict
from robot_client.safety.present import Present, present
from robot_client.safety.stopping import stopped_speed
from robot_client.safety.tool_speed import slowed

Bits = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """A next step before the guard sees it; arrays (..., 14)."""

    goal: Array
    speed: Array
    allowed: Interval
    clips: Bits


def limit(told: Told, asked: Array, measured: Array, limits: Limits) -> Verdict:
    """The next target for `asked`, all (..., 14); `asked` has passed `robot_client.safety.veto`."""
    goal = clipped(asked, np.minimum(limits.lower, told.position), np.maximum(limits.upper, told.position))
    within = braking_interval(told, limits)
    ranked = (
        (Clip.SPEED, speed_interval(limits)),
        (Clip.BRAKING, within),
        (Clip.ACCELERATION, acceleration_interval(told, limits)),
        (Clip.LEAD, lead_interval(told, measured, limits)),
    )
    stop = stopped_speed(told, limits, within)
    here = present(limits.space, told.position) if limits.guarded else None
    step = _step(told, goal, stop, [interval for _, interval in ranked], limits, here)
    after, goal, more = _guarded(told, step, stop, limits, here)
    clips = _reasons(told, step.goal, after.position, ranked, limits) | step.clips | more
    clips |= np.where(differ(asked, step.goal), int(Clip.LIMIT), 0)
    return Verdict(Told(after.position, after.velocity, goal, after.acceleration), clips.astype(np.uint16))


def brake(told: Told, limits: Limits) -> Verdict:
    """One period of stopping; a target at rest stays exactly where it is, whatever is measured.

    All joints of an arm slow down together, the slowest one as hard as allowed. A jerk limit lets it build up, as long
    as that leads nowhere it must not.
    """
    within = braking_interval(told, limits)
    stop = stopped_speed(told, limits, within)
    if limits.jerk is None:
        after, clips = moved(told, stop, limits), np.zeros(stop.shape, np.int64)
    else:
        wanted = eased(told, np.zeros(stop.shape), limits)
        speed = clipped(wanted, within.low, within.high)
        clips = np.where(differ(speed, wanted), int(Clip.JERK | Clip.EMPTY), 0)
        here = present(limits.space, told.position) if limits.guarded else None
        step = _Step(told.position, speed, Interval(speed, speed), clips)
        after, _, more = _guarded(told, step, stop, limits, here)
        clips |= more
    return Verdict(
        Told(after.position, after.velocity, after.position.copy(), after.acceleration), clips.astype(np.uint16)
    )


def at_rest(told: Told) -> bool:
    """Whether every channel stands."""
    return not told.velocity.any()


def _step(
    told: Told, goal: Array, stop: Array, intervals: list[Interval], limits: Limits, here: Present | None
) -> _Step:
    """The step towards `goal` within all limits of single channels, and the tool's speed."""
    allowed, empty = _intersection(intervals)
    speed = clipped(_wanted_speed(told, goal, limits), allowed.low, allowed.high)
    clips = np.where(empty, int(Clip.EMPTY), 0)
    if limits.jerk is not None:
        soft = eased(told, speed, limits)
        clips |= np.where(differ(soft, speed), int(Clip.JERK), 0)
        speed = clipped(soft, allowed.low, allowed.high)
        clips |= np.where(differ(soft, speed), int(Clip.EMPTY), 0)
        allowed = _eased_interval(told, allowed, limits)
    if here is not None:
        speed, slow = slowed(here.jacobian, stop, speed, allowed, limits.tool_speed_m_s)
        clips |= np.where(slow, int(Clip.TOOL_SPEED), 0)
    return _Step(goal, speed, allowed, clips)


def _guarded(told: Told, step: _Step, stop: Array, limits: Limits, here: Present | None) -> tuple[Told, Array, Bits]:
    """The next state, what is really gone for, and more `Clip` bits (..., 14), after the guard's word."""
    if here is None:
        return moved(told, step.speed, limits), step.goal, np.int64(0)
    shape, size = step.speed.shape, step.speed.shape[-1]
    flat = Told(*(array.reshape(-1, size) for array in (told.position, told.velocity, told.position)))
    speed, goal = step.speed.reshape(-1, size), step.goal.reshape(-1, size)
    after = moved(flat, speed, limits)
    here = here.flat(len(speed))
    verdict = judged(flat, after, goal, limits, here)
    rows = np.flatnonzero((verdict.step | verdict.asked).any(axis=1))
    bits = np.zeros(speed.shape, np.int64)
    if len(rows):
        speed, goal, halt = speed.copy(), goal.copy(), stop.reshape(-1, size)
        for side, arm in enumerate(ARMS):
            vetoed = verdict.asked[:, side, None]
            arm_of(speed, arm)[...] = np.where(vetoed, arm_of(halt, arm), arm_of(speed, arm))
            arm_of(goal, arm)[...] = np.where(vetoed, arm_of(flat.position, arm), arm_of(goal, arm))
            arm_of(bits, arm)[...] = verdict.clips[:, side, None]
        # An arm that stops anyway needs no trying.
        tried = rows[(speed[rows] != halt[rows]).any(axis=1)]
        if len(tried):
            speed[tried] = passed(flat.rows(tried), speed[tried], halt[tried], limits, here.rows(tried))
        within = Interval(*(array.reshape(speed.shape)[rows] for array in (step.allowed.low, step.allowed.high)))
        bits[rows] |= np.where(within.violated_by(speed[rows]), int(Clip.EMPTY), 0)
        after = moved(flat, speed, limits)
    arrays = (after.position, after.velocity, after.position, after.acceleration)
    return Told(*(np.reshape(array, shape) for array in arrays)), goal.reshape(shape), bits.reshape(shape)


def _intersection(intervals: list[Interval]) -> tuple[Interval, NDArray[np.bool_]]:
    first, *others = intervals
    low, high = first.low, first.high
    for interval in others:
        low, high = np.maximum(low, interval.low), np.minimum(high, interval.high)
    if (low <= high).all():
        return Interval(low, high), np.zeros(low.shape, bool)
    allowed, any_empty = first, np.zeros(low.shape, bool)
    for interval in others:
        allowed, empty = allowed.narrowed(interval)
        any_empty |= empty
    return allowed, any_empty


def _eased_interval(told: Told, allowed: Interval, limits: Limits) -> Interval:
    """The part of `allowed` that keeps the jerk limit, or its nearest point."""
    step = limits.most_jerk * limits.period_s**2
    steady = told.velocity + told.acceleration * limits.period_s
    return allowed.narrowed(Interval(steady - step, steady + step))[0]


def _wanted_speed(told: Told, goal: Array, limits: Limits) -> Array:
    """Speed that follows `goal` exactly while it moves as before, and closes a gap no faster than it can stop.

    Seen from a point that moves with the asked speed, the rest of the way must be stoppable: a jump of the target is
    reached without running past it, and a smooth target is followed without lag.

    A gap of rounding is left alone. Closing it within one period takes speed that cannot be given back while the target
    brakes or accelerates as hard as allowed, so on a course that was limited here before, which does that for long
    stretches, an error of the last digit would grow to 0.2 rad.
    """
    asked_speed = clipped((goal - told.asked) / limits.period_s, -limits.speed, limits.speed)
    gap = goal - told.position - asked_speed * limits.period_s
    gap = np.where(differ(gap, 0.0), gap, 0.0)
    if limits.jerk is not None:
        return asked_speed + np.sign(gap) * eased_stopping_speed(np.abs(gap), limits)
    return asked_speed + np.sign(gap) * stopping_speed(np.abs(gap), limits.acceleration, limits.period_s)


def _reasons(
    told: Told, goal: Array, position: Array, ranked: tuple[tuple[Clip, Interval], ...], limits: Limits
) -> Bits:
    """Every limit that going straight to `goal` would have broken, where it was not reached."""
    bits, elsewhere = np.zeros(position.shape, np.int64), differ(position, goal)
    if not elsewhere.any():
        return bits
    needed = (goal - told.position) / limits.period_s
    for reason, interval in ranked:
        bits |= np.where(interval.violated_by(needed), int(reason), 0)
    bits = np.where(bits == 0, int(Clip.ACCELERATION), bits)
    return np.where(elsewhere, bits, 0)
