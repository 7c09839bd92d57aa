"""How far arms are from what they must keep away from: along a course of both arms, and at what was asked.

A course is few poses; between two of them every capsule stays within its two places' convex hull, widened by a bound on
how far its points bow out from the straight line. So what holds here holds on the whole way, not only at the poses.

What is broken already at the first pose (a station measured anew with an arm inside a margin) must only not get worse:
otherwise such an arm could never leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import ARMS, joints_of_both
from robot_client.safety.kinematics import link_frames, tool_centre
from robot_client.safety.present import capsule_ends
from robot_client.safety.reach import Reach
from robot_client.safety.segments import between, gap_along
from robot_client.safety.space import Space

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.intp]

ROUNDING_M: Final = 1e-9
_FIRST, _COURSE, _ASKED = 0, slice(1, -1), -1
"""Poses: the present one, the course (candidate .. end of braking), what was asked."""


@dataclass(frozen=True, slots=True, eq=False)
class Faults:
    """(N, 2) per arm: what a course, or what was asked, would break."""

    box: Mask
    table: Mask
    distance: Mask

    def any(self) -> Mask:
        """(N, 2)"""
        return self.box | self.table | self.distance


@dataclass(frozen=True, slots=True, eq=False)
class Poses:
    """Where everything is at S poses of N pairs of arms."""

    ends: Array
    """(N, S, 2C + F, 2, 3) [m] ends of all capsules' lines, in the station's frame."""
    tools: Array
    """(N, S, 2, 3) [m] tool centres."""


def poses_of(space: Space, targets: Array) -> Poses:
    """Of targets (N, S, 14)."""
    frames, origins = link_frames(joints_of_both(targets), space.bases)
    return Poses(capsule_ends(space, frames, origins), tool_centre(frames, origins))


def faults_of(space: Space, poses: Poses, reach: Reach, bow_rad2: Array, bow_rad: Array) -> tuple[Faults, Faults]:
    """What the course breaks, and what was asked breaks, of what is within `reach`.

    `bow_rad2` (N, S - 3, 2) is, per piece of the course and arm, an eighth of the squared sum of the joints' turns;
    `bow_rad` (N, 2) how far joints may be off the straight course.
    """
    bow = bow_rad2 + bow_rad[:, None]
    moves, asks = _distances(space, poses, reach.pairs, bow)
    if not reach.levels.any():
        nothing = np.zeros(moves.shape, bool)
        return Faults(nothing, nothing, moves), Faults(nothing, nothing, asks)
    box = np.minimum(poses.tools - space.lower_m, space.upper_m - poses.tools).min(axis=-1)
    table = _above_table(space, poses)
    most = bow.max(axis=1) * space.lever_m.max(initial=0.0)
    course, asked = _worse(np.stack([box, table], axis=2), most[:, None])
    return Faults(course[:, 0], course[:, 1], moves), Faults(asked[:, 0], asked[:, 1], asks)


def _above_table(space: Space, poses: Poses) -> Array:
    """(N, S, 2) [m] least height over what is demanded."""
    lead, count = poses.tools.shape[:2], len(space.link)
    arms = poses.ends[..., : 2 * count, :, :].reshape(*lead, 2, count, 2, 3)[..., space.above_table, :, :]
    bodies = (arms @ space.normal).min(axis=-1) - space.arm_level_m
    tools = poses.tools @ space.normal - space.tool_level_m
    return np.minimum(bodies.min(axis=-1, initial=np.inf), tools)


def _worse(height: Array, bow: Array) -> tuple[Mask, Mask]:
    """Of the course and of what was asked, from heights (N, S, ...) over a level and the course's bow (N, ...)."""
    now = height[:, _FIRST]
    least = np.minimum(now, 0.0)
    lowest = height[:, _COURSE].min(axis=1) - np.where(now < 0.0, 0.0, bow)
    return lowest < least - ROUNDING_M, height[:, _ASKED] < least - ROUNDING_M


def _distances(space: Space, poses: Poses, pairs: Mask, bow: Array) -> tuple[Mask, Mask]:
    """(N, 2) each; exact only for those of `pairs` (N, P) that spheres around the capsules do not clear."""
    ends, shape = poses.ends, (len(poses.ends), len(ARMS))
    moves, asks = np.zeros(shape, bool), np.zeros(shape, bool)
    row, pair = np.nonzero(pairs)
    if not len(row):
        return moves, asks
    left = np.arange(len(space.lever_m)) < len(space.link)
    bows = np.where(left, bow[..., :1], bow[..., 1:]) * space.lever_m  # 0 for what is fixed
    near = _maybe_near(space, ends, bows, row, pair)
    row, pair = row[near], pair[near]
    if len(row):
        i, j = space.first[pair], space.second[pair]
        a, b = ends[row, :, i], ends[row, :, j]
        move, ask = _pair_faults(a, b, space.keep_m[pair], bows[row, :, i] + bows[row, :, j])
        np.logical_or.at(moves, row, move[:, None] & space.owners[pair])
        np.logical_or.at(asks, row, ask[:, None] & space.owners[pair])
    return moves, asks


def _maybe_near(space: Space, ends: Array, bows: Array, row: Index, pair: Index) -> Mask:
    """Of M pairs: false where the spheres around both capsules stay apart at every pose and on the way."""
    middle = (ends[..., 0, :] + ends[..., 1, :]) / 2.0
    course = ends[:, _COURSE]
    travel = _length(course[:, 1:] - course[:, :-1]).max(axis=(1, -1))
    spare = travel + bows.max(axis=1)
    i, j = space.first[pair], space.second[pair]
    distance = _length(middle[row, :, i] - middle[row, :, j]).min(axis=1)
    return distance < spare[row, i] + spare[row, j] + space.reach_m[pair]


def _pair_faults(a: Array, b: Array, keep: Array, bow: Array) -> tuple[Mask, Mask]:
    """Of M pairs: segments a and b (M, S, 2, 3), least distances of their lines (M,), bow (M, S - 3) per piece."""
    ways = between(a, b)
    distance = _length(ways)
    height = distance - keep[:, None]
    now = height[:, _FIRST]
    moves, asks = _worse(height, np.zeros(len(keep)))
    for piece in range(bow.shape[1]):
        at = 1 + piece
        hull_a = a[:, at : at + 2].reshape(len(a), 4, 3)
        hull_b = b[:, at : at + 2].reshape(len(b), 4, 3)
        gaps = [gap_along(ways[:, k] / np.maximum(distance[:, k, None], 1e-9), hull_a, hull_b) for k in (at, at + 1)]
        moves |= (now >= 0.0) & (np.maximum(*gaps) - keep - bow[:, piece] < -ROUNDING_M)
    return moves, asks


def _length(way: Array) -> Array:
    return np.sqrt(np.einsum("...i,...i->...", way, way))
