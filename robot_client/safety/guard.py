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
from robot_client.safety.interval import Array, clipped
from robot_client.safety.limits import Clip, Limits, Told
from robot_client.safety.present import Present
from robot_client.safety.reach import Reach, reach_of, tool_ways
from robot_client.safety.stopping import way_to_rest

_SHARES: Final = (1.0, 0.5, 0.0)
_TRIED: Final = np.array(sorted(product(_SHARES, repeat=len(ARMS)), key=lambda pair: -sum(pair))[:-1])
"""(K, 2) shares of the wanted step per arm, most motion first; none of it is the stop."""
_POINTS: Final = (0.5, 1.0)
"""Of the way to rest, at which poses are looked at."""
_PIECES: Final = np.diff((0.0, *_POINTS))
_SPARE: Final = 0.985
"""Share of the tool's speed limit that the estimate on the way to rest must keep."""


Way = tuple[Array, Array, Array]
"""What `way_to_rest` gives."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Per row and arm (N, 2): the step and its stop may not be taken; what was asked may not be. (N, 2) `Clip` bits."""

    step: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    clips: NDArray[np.int64]


def judged(told: Told, step: Told, asked: Array, limits: Limits, here: Present) -> Judgement:
    """Of N pairs of arms: `step` is what would be told next, `asked` (N, 14) where it leads. All arrays are (N, 14).

    `here` is told's. What cannot be come to from there is not looked at.
    """
    rest, off, seconds = way_to_rest(step, limits)
    turns, ways = joints_of_both(step.position - told.position), joints_of_both(rest)
    reach = reach_of(
        limits.space, here, turns, ways, joints_of_both(asked - told.position), _bow(rest).max(axis=1) + off
    )
    looked_at = reach.any
    if np.isfinite(limits.tool_speed_m_s):
        looked_at |= _faster(tool_ways(limits.space, here, turns, ways), seconds, limits).any(axis=1)
    nothing = np.zeros((len(asked), len(ARMS)), bool)
    whole = Judgement(nothing, nothing.copy(), nothing.astype(np.int64))
    if looked_at.any():
        rows = np.flatnonzero(looked_at)
        some = rest[rows], off[rows], seconds[rows]
        found = _looked_at(told.position[rows], step.position[rows], asked[rows], some, reach.rows(rows), limits)
        whole.step[rows], whole.asked[rows], whole.clips[rows] = found.step, found.asked, found.clips
    return whole


def passed(told: Told, wanted: Array, stop: Array, limits: Limits, here: Present) -> Array:
    """Speeds (N, 14) nearest to `wanted` from which the arms can stop rightly, on the way from there to `stop`."""
    count, tried = len(told.position), len(_TRIED)
    share = per_arm(_TRIED)[:, None]
    speed = (stop + share * (wanted - stop)).reshape(tried * count, -1)
    every = np.tile(np.arange(count), tried)
    before = told.rows(every)
    after = moved(before, speed, limits)
    fine = ~judged(before, after, before.position, limits, here.rows(every)).step.any(axis=1).reshape(tried, count)
    first = np.argmax(fine, axis=0)
    best = speed.reshape(tried, count, -1)[first, np.arange(count)]
    return np.where(np.asarray(fine.any(axis=0))[:, None], best, stop)


def moved(told: Told, speed: Array, limits: Limits) -> Told:
    """`told` one period later; rounding never carries it over a limit."""
    lower, upper = np.minimum(limits.lower, told.position), np.maximum(limits.upper, told.position)
    position = clipped(told.position + speed * limits.period_s, lower, upper)
    return Told(position, speed, position, (speed - told.velocity) / limits.period_s)


def _looked_at(now: Array, step: Array, asked: Array, way: Way, reach: Reach, limits: Limits) -> Judgement:
    rest, off, seconds = way
    course = [step + share * rest for share in _POINTS]
    poses = poses_of(limits.space, np.stack([now, step, *course, asked], axis=1))
    fast = _too_fast(poses.tools, seconds, limits)
    move, goal = faults_of(limits.space, poses, reach, _bow(rest), off)
    clips = np.zeros(fast.shape, np.int64)
    unsafe, asked_too_near = move.any() | fast, goal.any()
    if unsafe.any() or asked_too_near.any():
        clips = _bits(move) | _bits(goal) | np.where(fast, int(Clip.TOOL_SPEED), 0)
    return Judgement(unsafe, asked_too_near, clips)


def _bow(way: Array) -> Array:
    """(N, pieces, 2): see `faults_of`."""
    turns = np.abs(joints_of_both(way)).sum(axis=-1)
    return np.square(_PIECES[:, None] * turns[:, None]) / 8.0


def _too_fast(tools: Array, seconds: Array, limits: Limits) -> NDArray[np.bool_]:
    """(N, 2): from tool centres at the poses (N, S, 2, 3)."""
    if not np.isfinite(limits.tool_speed_m_s):
        return np.zeros((len(tools), len(ARMS)), bool)
    return _faster(np.sqrt(np.square(np.diff(tools[:, :-1], axis=1)).sum(axis=-1)), seconds, limits)


def _faster(ways: Array, seconds: Array, limits: Limits) -> NDArray[np.bool_]:
    """(N, 2): in the coming period, or in the middle of the first or the second half of the way to rest.

    `ways` (N, 3, 2) [m] of the tool centres in these. After a share s of the way the scale of the speed is the root of
    1 - s.
    """
    limit = limits.tool_speed_m_s
    taken = joints_of_both(seconds).max(axis=-1)
    fast = ways[:, 0] > limit * limits.period_s
    for piece, middle in ((1, 0.25), (2, 0.75)):
        fast |= 2.0 * ways[:, piece] * (1.0 - middle) ** 0.5 > _SPARE * limit * taken
    return fast


def _bits(faults: Faults) -> NDArray[np.int64]:
    pairs = ((faults.box, Clip.WORKSPACE), (faults.table, Clip.TABLE), (faults.distance, Clip.DISTANCE))
    return sum((np.where(mask, int(bit), 0) for mask, bit in pairs), np.int64(0))
