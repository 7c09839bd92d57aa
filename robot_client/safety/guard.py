"""The last word on a step: an arm may only go where it can still stop rightly.

A step is let through when the whole way from it to rest (`stopping`) keeps the box, the table, all distances and the
tool's speed. So there always is a next step that is safe: the first one of the stop that was judged before. A step that
is not let through is tried at a half of its difference from that stop, for each arm; if that does not pass either, the
arm stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import ARMS, joints_of_both, per_arm
from robot_client.safety.clearance import Faults, faults_of, poses_of
from robot_client.safety.interval import Array
from robot_client.safety.limits import Clip, Limits, Told
from robot_client.safety.stopping import way_to_rest

_SHARES: Final = (1.0, 0.5, 0.0)
_TRIED: Final = np.array(sorted(product(_SHARES, repeat=len(ARMS)), key=lambda pair: -sum(pair))[:-1])
"""(K, 2) shares of the wanted step per arm, most motion first; none of it is the stop."""
_POINTS: Final = (0.5, 1.0)
"""Of the way to rest, at which poses are looked at."""
_SPARE: Final = 0.985
"""Share of the tool's speed limit that the estimate on the way to rest must keep."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Per row and arm (N, 2): the step and its stop may not be taken; what was asked may not be. (N, 2) `Clip` bits."""

    step: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    clips: NDArray[np.int64]


def judged(told: Told, step: Told, asked: Array, limits: Limits) -> Judgement:
    """Of N pairs of arms: `step` is what would be told next, `asked` (N, 14) where it leads. All arrays are (N, 14)."""
    way, off, seconds = way_to_rest(step, limits)
    course = [step.position + share * way for share in _POINTS]
    poses = poses_of(limits.space, np.stack([told.position, step.position, *course, asked], axis=1))
    fast = _too_fast(poses.tools, seconds, limits)
    move, goal = faults_of(limits.space, poses, _bow(way), off)
    clips = np.zeros(fast.shape, np.int64)
    unsafe, asked_too_near = move.any() | fast, goal.any()
    if unsafe.any() or asked_too_near.any():
        clips = _bits(move) | _bits(goal) | np.where(fast, int(Clip.TOOL_SPEED), 0)
    return Judgement(unsafe, asked_too_near, clips)


def passed(told: Told, wanted: Array, stop: Array, limits: Limits) -> Array:
    """Speeds (N, 14) nearest to `wanted` from which the arms can stop rightly, on the way from there to `stop`."""
    count, tried = len(told.position), len(_TRIED)
    share = per_arm(_TRIED)[:, None]
    speed = (stop + share * (wanted - stop)).reshape(tried * count, -1)
    before = told.rows(np.tile(np.arange(count), tried))
    after = moved(before, speed, limits)
    fine = ~judged(before, after, before.position, limits).step.any(axis=1).reshape(tried, count)
    first = np.argmax(fine, axis=0)
    best = speed.reshape(tried, count, -1)[first, np.arange(count)]
    return np.where(np.asarray(fine.any(axis=0))[:, None], best, stop)


def moved(told: Told, speed: Array, limits: Limits) -> Told:
    """`told` one period later; rounding never carries it over a limit."""
    lower, upper = np.minimum(limits.lower, told.position), np.maximum(limits.upper, told.position)
    position = np.clip(told.position + speed * limits.period_s, lower, upper)
    return Told(position, speed, position, (speed - told.velocity) / limits.period_s)


def _bow(way: Array) -> Array:
    """(N, pieces, 2): see `faults_of`."""
    turns = np.abs(joints_of_both(way)).sum(axis=-1)
    pieces = np.diff((0.0, *_POINTS))
    return np.square(pieces[:, None] * turns[:, None]) / 8.0


def _too_fast(tools: Array, seconds: Array, limits: Limits) -> NDArray[np.bool_]:
    """(N, 2): in the coming period, or in the middle of the first or the second half of the way to rest.

    After a share s of the way the scale of the speed is the root of 1 - s.
    """
    limit = limits.tool_speed_m_s
    if not np.isfinite(limit):
        return np.zeros((len(tools), len(ARMS)), bool)
    steps = np.sqrt(np.square(np.diff(tools[:, :-1], axis=1)).sum(axis=-1))
    taken = joints_of_both(seconds).max(axis=-1)
    fast = steps[:, 0] > limit * limits.period_s
    for piece, middle in ((1, 0.25), (2, 0.75)):
        fast |= 2.0 * steps[:, piece] * (1.0 - middle) ** 0.5 > _SPARE * limit * taken
    return fast


def _bits(faults: Faults) -> NDArray[np.int64]:
    pairs = ((faults.box, Clip.WORKSPACE), (faults.table, Clip.TABLE), (faults.distance, Clip.DISTANCE))
    return sum((np.where(mask, int(bit), 0) for mask, bit in pairs), np.int64(0))
