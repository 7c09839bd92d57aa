"""Clearances of made-up poses, each against its rule written down pair by pair, and numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robot_client.safety.clearance import Faults, Poses, faults_of
from robot_client.safety.reach import Reach
from robot_client.safety.segments import between
from robot_client.safety.space import FREE, Space

Array = np.ndarray
COUNT, POSES, PIECES = 3, 6, 3
LENGTHS_M = np.array([0.3, 0.0, 0.2, 0.1, 0.25, 0.3, 0.4])
"""Three capsules of the left arm, three of the right one, one that is fixed."""
PAIRS = np.array([(0, 3), (1, 4), (2, 5), (0, 5), (1, 6), (2, 6), (3, 6), (4, 6), (0, 2), (3, 5)])
OWNERS = np.any(PAIRS[:, :, None] // COUNT == np.arange(2), axis=1)
KEEP_M = np.linspace(0.05, 0.15, len(PAIRS))
SPACE = replace(
    FREE,
    link=np.zeros(COUNT, np.intp),
    lever_m=np.array([0.2, 0.4, 0.6, 0.3, 0.5, 0.7, 0.0]),
    first=PAIRS[:, 0],
    second=PAIRS[:, 1],
    keep_m=KEEP_M,
    reach_m=KEEP_M + LENGTHS_M[PAIRS].sum(axis=1) / 2,
    owners=OWNERS,
    lower_m=np.array([-0.3, -0.2, -0.4]),
    upper_m=np.array([0.4, 0.3, 0.2]),
    normal=np.array([0.6, 0.0, 0.8]),
    tool_level_m=-0.2,
    above_table=np.array([1, 2]),
    arm_level_m=np.array([-0.5, -0.4]),
)
# One pair and no slant, so that what is right to the last digit can be written down.
PLAIN = replace(
    SPACE,
    first=np.array([0]),
    second=np.array([3]),
    keep_m=np.ones(1),
    reach_m=np.ones(1),
    owners=np.ones((1, 2), bool),
    lever_m=np.array([0.5, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0]),
    lower_m=np.array([0.0, -9.0, -9.0]),
    upper_m=np.full(3, 9.0),
    normal=np.array([0.0, 0.0, 1.0]),
    tool_level_m=-9.0,
    arm_level_m=np.full(2, -9.0),
)


def _random(random: np.random.Generator, rows: int) -> tuple[Poses, Array, Array]:
    """Poses near to each other's margins, the bows of their pieces, and how far joints are off."""
    walk = np.cumsum(random.normal(0.0, 0.15, (rows, POSES, 7, 3)) * random.random((rows, 1, 1, 1)), axis=1)
    begin = random.uniform(-0.6, 0.6, (rows, 1, 7, 3)) + walk
    way = random.normal(size=begin.shape)
    way *= (LENGTHS_M / np.linalg.norm(way, axis=-1))[..., None]
    ends = np.stack([begin, begin + way], axis=3)
    ends[:, :, -1] = ends[:, :1, -1]
    tools = random.uniform(-0.1, 0.1, (rows, 1, 2, 3)) + walk[:, :, :2]
    share = random.random((rows, 1, 1)) < 0.7
    return Poses(ends, tools), share * random.uniform(0.0, 0.2, (rows, PIECES, 2)), random.uniform(0, 0.05, (rows, 2))


def _worse(height: Array, bow: Array | float) -> tuple[Array, Array]:
    floor, spare = np.minimum(height[:, 0], 0.0) - 1e-9, np.where(height[:, 0] < 0.0, 0.0, bow)
    return np.any([height[:, at] - spare < floor for at in range(1, POSES - 1)], axis=0), height[:, POSES - 1] < floor


def _levels(space: Space, poses: Poses, bow: Array, arm: int) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """What one arm breaks of the box, and of the table, on the course and where it was asked to be."""
    tool, most = poses.tools[:, :, arm], bow[:, :, arm].max(axis=1) * space.lever_m.max()
    sides = [tool[..., axis] - space.lower_m[axis] for axis in range(3)]
    sides += [space.upper_m[axis] - tool[..., axis] for axis in range(3)]
    low = [tool @ space.normal - space.tool_level_m]
    for capsule, level in zip(space.above_table, space.arm_level_m, strict=True):
        low += [poses.ends[:, :, arm * COUNT + capsule, end] @ space.normal - level for end in (0, 1)]
    return _worse(np.min(sides, axis=0), most), _worse(np.min(low, axis=0), most)


def _pair(space: Space, poses: Poses, bow: Array, number: int) -> tuple[Array, Array]:
    """Whether two capsules get too near on the course, and where they were asked to be."""
    i, j, keep = space.first[number], space.second[number], space.keep_m[number]
    ways = between(poses.ends[:, :, i], poses.ends[:, :, j])
    apart = np.linalg.norm(ways, axis=-1)
    moves, asks = _worse(apart - keep, 0.0)
    for piece in range(PIECES):
        a, b = (poses.ends[:, piece + 1 : piece + 3, k].reshape(-1, 4, 3) for k in (i, j))
        spare = sum(bow[:, piece, min(k // COUNT, 1)] * space.lever_m[k] for k in (i, j))
        along = [ways[:, at] / apart[:, at, None] for at in (piece + 1, piece + 2)]
        gaps = [(np.einsum("nki,ni->nk", b, x).min(1) - np.einsum("nki,ni->nk", a, x).max(1)) for x in along]
        moves |= (apart[:, 0] >= keep) & (np.max(gaps, axis=0) - keep - spare < -1e-9)
    return moves, asks


@pytest.mark.parametrize("seed", range(2))
def test_what_is_found_is_what_each_rule_says_of_each_tool_capsule_and_pair(seed: int) -> None:
    random, rows = np.random.default_rng(seed), 4000
    poses, bow_rad2, bow_rad = _random(random, rows)
    pairs, bow = random.random((rows, len(PAIRS))) < 0.5, bow_rad2 + bow_rad[:, None]
    found = faults_of(SPACE, poses, Reach(np.ones(rows, bool), pairs), bow_rad2, bow_rad)
    of_pairs = [_pair(SPACE, poses, bow, number) for number in range(len(PAIRS))]
    for arm in (0, 1):
        levels = _levels(SPACE, poses, bow, arm)
        for when, faults in enumerate(found):
            near = np.stack([each[when] for each in of_pairs], axis=1) & pairs & OWNERS[:, arm]
            rules = (faults.box, levels[0][when]), (faults.table, levels[1][when]), (faults.distance, near.any(axis=1))
            for what, expected in rules:
                np.testing.assert_array_equal(what[:, arm], expected)
                assert 50 < expected.sum() < rows - 50


def _still() -> Poses:
    """Everything far from everything, one row."""
    ends = np.zeros((1, POSES, 7, 2, 3))
    ends[..., 0] = 3.0 * np.arange(7)[:, None]
    return Poses(ends, np.ones((1, POSES, 2, 3)))


def _found(poses: Poses, bow: Array | float = 0.0) -> tuple[Faults, Faults]:
    """`bow` is one for all, or (PIECES, 1)."""
    bows = np.full((1, PIECES, 2), bow)
    return faults_of(PLAIN, poses, Reach(np.ones(1, bool), np.ones((1, 1), bool)), bows, np.zeros((1, 2)))


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
def test_a_side_of_the_box_is_kept_to_a_nanometre_and_not_less(at: int) -> None:
    assert not any(faults.any().any() for faults in _found(_still()))
    for x, broken in ((0.0, False), (-1e-9, False), (np.nextafter(-1e-9, -1.0), True)):
        poses = _still()
        poses.tools[0, at, 1, 0] = x
        course, asked = _found(poses)
        assert (course.box[0].tolist(), asked.box[0].tolist()) == (
            [False, broken and at < 5],
            [False, broken and at == 5],
        )


def test_the_allowance_for_the_way_holds_from_exactly_on_a_limit_and_not_from_beyond_it() -> None:
    for now, broken in ((0.3, True), (0.0, True), (-1e-12, False)):
        poses = _still()
        poses.tools[0, 0, 1, 0], poses.tools[0, 1:, 1, 0] = now, 0.2
        assert _found(poses, bow=0.5)[0].box[0].tolist() == [False, broken]
        poses = _still()
        poses.ends[0, 0, 3, :, 0], poses.ends[0, 1:, 3, :, 0] = 1.0 + now, 1.4
        assert _found(poses, bow=0.5)[0].distance[0].tolist() == [broken, broken]
    # It concerns the way only, not the pose that the arm has already.
    poses = _still()
    poses.tools[0, 0, 1, 0], poses.ends[0, 0, 3, :, 0] = 0.0, 1.0
    assert not _found(poses, bow=0.5)[0].any().any()


def test_a_distance_is_kept_to_a_nanometre_and_not_less() -> None:
    for bow, broken in ((1e-9, False), (np.nextafter(1e-9, 1.0), True)):
        poses = _still()
        poses.ends[0, 2, 3, :, 0] = 1.0
        assert _found(poses, bow=bow)[0].distance[0].tolist() == [broken, broken]


@pytest.mark.parametrize("length_m", [2.0, 20.0])
def test_the_quick_look_at_spheres_clears_no_pair_that_the_long_one_does_not(length_m: float) -> None:
    """To and fro past the other capsule; a quarter of the way around it; close by, where one piece alone is bowed."""
    far, near = np.array([length_m, 0.0, 0.0]), np.array([1.4, 0.0, 0.0])
    aside, across = 0.72 * np.array([length_m, length_m, 0.0]), np.array([0.0, length_m, 0.0])
    one_bowed = np.array([[0.0], [0.5], [0.0]])
    for course, bow in (([far, -far] * 2, 0.0), ([aside, far, across, aside], 0.0), ([near] * 4, one_bowed)):
        for moving, other in ((0, 3), (3, 0)):
            poses = _still()
            poses.ends[:, :, other], poses.ends[:, :, moving] = 0.0, np.array([far, *course, far])[None, :, None]
            bows = np.full((1, PIECES, 2), bow)
            assert _pair(PLAIN, poses, bows, 0)[0].all()
            assert _found(poses, bow)[0].distance.all()


def test_each_kind_of_fault_is_one() -> None:
    for kind in range(3):
        masks = [np.array([[kind == i, False]]) for i in range(3)]
        assert Faults(*masks).any().tolist() == [[True, False]]
