"""Clearances of a course: exact at its poses, and a bound in between that is neither wrong nor wild."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contract.layout import index
from contract.station import load_station
from robot_client.safety.clearance import Faults, Poses, faults_of, poses_of
from robot_client.safety.limits import limits_of
from robot_client.safety.reach import Reach
from tests.robot_client.safety.sequences import heights, safe_poses

STATION = load_station("twin")
LIMITS = limits_of(STATION.safety, 0.01)
SPACE = LIMITS.space
HOME = STATION.poses.home.vector()
STRAIGHT = np.zeros((1, 2, 2))
ON_IT = np.zeros((1, 2))
LOW = HOME + np.eye(14)[index("left_joint2")]


def _faults(*poses: np.ndarray, bow: np.ndarray = STRAIGHT, off: np.ndarray = ON_IT) -> tuple[Faults, Faults]:
    return faults_of(SPACE, poses_of(SPACE, np.stack(poses)[None]), _everything(1), bow, off)


def _everything(count: int) -> Reach:
    return Reach(np.ones(count, bool), np.ones((count, len(SPACE.first)), bool))


def test_only_the_course_counts_for_the_course_and_only_what_was_asked_for_that() -> None:
    course, asked = _faults(HOME, HOME, HOME, HOME, LOW)
    assert not course.any().any()
    np.testing.assert_array_equal(asked.table, [[True, False]])
    for place in (1, 2, 3):
        poses = [HOME] * 5
        poses[place] = LOW
        course, asked = _faults(*poses)
        np.testing.assert_array_equal(course.table, [[True, False]])
        assert not asked.any().any()


def test_only_what_is_within_reach_is_looked_at() -> None:
    poses = poses_of(SPACE, np.stack([HOME, HOME, LOW, LOW, LOW])[None])
    nothing = Reach(np.zeros(1, bool), np.zeros((1, len(SPACE.first)), bool))
    for faults in faults_of(SPACE, poses, nothing, STRAIGHT, ON_IT):
        assert not faults.any().any()
    course, asked = faults_of(SPACE, poses, replace(nothing, levels=np.ones(1, bool)), STRAIGHT, ON_IT)
    assert course.table[0, 0] and asked.table[0, 0]
    both = Poses(np.repeat(poses.ends, 2, axis=0), np.repeat(poses.tools, 2, axis=0))
    reach = Reach(np.array([False, True]), np.repeat(nothing.pairs, 2, axis=0))
    course, asked = faults_of(SPACE, both, reach, np.repeat(STRAIGHT, 2, axis=0), np.repeat(ON_IT, 2, axis=0))
    assert course.table[1, 0] and asked.table[1, 0]


def test_what_is_broken_now_must_only_not_get_worse() -> None:
    lower, higher = LOW + 0.05 * np.eye(14)[1], LOW - 0.05 * np.eye(14)[1]
    assert not _faults(LOW, LOW, LOW, LOW, LOW)[0].any().any()
    assert not _faults(LOW, LOW, higher, HOME, HOME)[0].any().any()
    assert _faults(LOW, lower, higher, HOME, HOME)[0].table[0, 0]
    assert _faults(LOW, LOW, LOW, LOW, lower)[1].table[0, 0]
    # The allowance for the way in between plays no part while leaving.
    assert not _faults(LOW, LOW, higher, HOME, HOME, bow=STRAIGHT + 0.1, off=ON_IT + 0.1)[0].table[0, 0]


def test_the_bow_of_the_way_is_added_to_every_margin() -> None:
    height = float(heights(LIMITS, HOME[None])["table_m"][0])
    lever = float(SPACE.lever_m.max())
    for share, broken in ((0.98, False), (1.02, True)):
        bow, off = STRAIGHT.copy(), ON_IT.copy()
        bow[0, 1, 0] = share * height / lever
        assert _faults(*[HOME] * 5, bow=bow)[0].table[0].tolist() == [broken, False]
        off[0, 1] = share * height / lever
        assert _faults(*[HOME] * 5, off=off)[0].table[0].tolist() == [False, broken]
    assert not _faults(*[HOME] * 5, bow=STRAIGHT + 10.0)[1].any().any()


def test_a_pass_between_two_poses_is_seen_although_both_ends_are_clear() -> None:
    """Both arms swing past each other within one piece of the course."""
    before, after = HOME.copy(), HOME.copy()
    for arm, side in (("left", -1.0), ("right", 1.0)):
        for pose, angle in ((before, 0.75), (after, 2.4)):
            pose[index(f"{arm}_joint1")] = side * angle
            pose[index(f"{arm}_joint2")], pose[index(f"{arm}_joint3")] = 1.9, 1.6
    poses = [before, before, after, after, before]
    ends = [float(heights(LIMITS, pose[None])["distance_m"][0]) for pose in (before, after)]
    between = heights(LIMITS, before + np.linspace(0, 1, 50)[:, None] * (after - before))["distance_m"].min()
    assert between < 0.0
    course, _ = _faults(*poses)
    assert course.distance.all()
    assert min(ends) > between


@pytest.mark.parametrize("seed", range(2))
def test_a_course_found_clear_is_clear_at_every_pose_between(seed: int) -> None:
    """300 random ways near each other, bowed as joints turn evenly; and not much is refused that is clear."""
    random = np.random.default_rng(seed)
    start = safe_poses(LIMITS, random, 300)
    end = np.clip(start + random.normal(0.0, 0.12, start.shape), LIMITS.lower, LIMITS.upper)
    course = np.stack([start, start, (start + end) / 2, end, start], axis=1)
    turns = np.abs(end - start).reshape(300, 2, 7)[..., :6].sum(axis=-1)
    bow = np.repeat(np.square(turns / 2)[:, None] / 8.0, 2, axis=1)
    found, _ = faults_of(SPACE, poses_of(SPACE, course), _everything(300), bow, np.zeros((300, 2)))
    refused = found.any().any(axis=1)
    lowest = np.full(300, np.inf)
    for share in np.linspace(0.0, 1.0, 11):
        for height in heights(LIMITS, start + share * (end - start)).values():
            lowest = np.minimum(lowest, height)
    assert (lowest[~refused] >= -1e-9).all()
    assert (~refused).sum() > 30 and refused.sum() > 30
    # Refused although 3 cm clear: few, as a way of 0.1 rad in every joint bows by about 2 cm.
    assert (refused & (lowest > 0.03)).sum() <= 0.05 * 300
