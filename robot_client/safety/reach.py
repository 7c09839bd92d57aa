"""Steps that need no looking at, because from where the arms are now nothing forbidden can be come to.

While joints turn, no point moves further than the sum of their turns, each times its lever. So from the heights and
distances of the present pose, which are at hand, it follows for nearly every step that box, table and distances are
kept at every pose that the guard would look at, with all that it allows for between them. What this cannot say is not
forbidden; it is looked at. What is broken now is always looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_client.safety.interval import Array
from robot_client.safety.present import Present
from robot_client.safety.segments import between
from robot_client.safety.space import Space

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """What must be looked at."""

    levels: Mask
    """(N,) the box or the table."""
    pairs: Mask
    """(N, P) of capsules."""

    @property
    def any(self) -> Mask:
        """(N,)"""
        return self.levels | self.pairs.any(axis=1)

    def rows(self, which: NDArray[np.intp]) -> Reach:
        """Of those pairs of arms."""
        return Reach(self.levels[which], self.pairs[which])


def reach_of(space: Space, here: Present, step: Array, way: Array, asked: Array, bow_rad: Array) -> Reach:
    """What the course or what was asked could break.

    Turns of both arms' joints (N, 2, 6) [rad]: to the first pose of the course, from there to rest, to what was asked.
    `bow_rad` (N, 2) is the most that `clearance.faults_of` is given for a piece of the course.
    """
    levers = space.levers_m.T
    bow = (bow_rad * space.lever_m.max(initial=0.0))[..., None]
    need = np.maximum((np.abs(step) + np.abs(way)) @ levers + bow, np.abs(asked) @ levers)
    capsules, tools = need[..., :-1], need[..., -1]
    box = np.minimum(here.tools - space.lower_m, space.upper_m - here.tools).min(axis=-1)
    clear = (np.minimum(box, here.tools @ space.normal - space.tool_level_m) >= tools).all(axis=-1)
    return Reach(~(clear & _above_table(space, here, capsules)), _near(space, here, capsules))


def tool_ways(space: Space, here: Present, step: Array, way: Array) -> Array:
    """(N, 3, 2) [m] at least as long as the tool centres' ways: in the step, in both halves of the way to rest.

    The Jacobian changes by at most the turns since, each times its lever, for each turn of the way it is used for.
    """
    levers = space.levers_m[-1]
    turned, rest = np.abs(step), np.abs(way) / 2.0
    moved, move = turned @ levers, rest @ levers
    ways = here.jacobian @ np.stack([step, way / 2.0], axis=-1)
    lengths = np.sqrt(np.square(ways).sum(axis=-2))
    half, sum_of_half = lengths[..., 1], rest.sum(axis=-1)
    bounds = np.empty((len(step), 3, moved.shape[-1]))
    bounds[:, 0] = lengths[..., 0] + turned.sum(axis=-1) * moved / 2.0
    bounds[:, 1] = half + sum_of_half * (moved + move / 2.0)
    bounds[:, 2] = half + sum_of_half * (moved + move * 1.5)
    return bounds


def _above_table(space: Space, here: Present, need: Array) -> Mask:
    """(N,) every capsule that is kept above the table is higher over its level than it needs to be."""
    arms = here.ends[:, : 2 * len(space.link)].reshape(*need.shape, 2, 3)[:, :, space.above_table]
    heights = (arms @ space.normal).min(axis=-1) - space.arm_level_m
    return (heights >= need[:, :, space.above_table]).all(axis=(1, 2))


def _near(space: Space, here: Present, need: Array) -> Mask:
    """(N, P) pairs less far apart than both need together; exact only where spheres around them do not tell."""
    count = len(need)
    both = np.zeros((count, here.ends.shape[1]))
    both[:, : 2 * len(space.link)] = need.reshape(count, -1)
    needed = both.take(space.first, 1) + both.take(space.second, 1)
    middle = (here.ends[..., 0, :] + here.ends[..., 1, :]) / 2.0
    way = middle.take(space.first, 1) - middle.take(space.second, 1)
    near = np.einsum("...i,...i->...", way, way) < np.square(needed + space.reach_m)
    if near.any():
        row, pair = np.nonzero(near)
        ways = between(here.ends[row, space.first[pair]], here.ends[row, space.second[pair]])
        distance = np.sqrt(np.einsum("...i,...i->...", ways, ways))
        near[row, pair] = distance - space.keep_m[pair] < needed[row, pair]
    return near
