"""A leader as named joints: names decide, never places (B21)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.errors import FieldError
from contract.layout import CHANNELS, GRIPPER_MASK, GRIPPER_TRAVEL_M, URDF_NAMES
from contract.station import load_station
from robot_client.teleop.joint_state import JointStateLeader

STATION = load_station("twin")
POSE = STATION.poses.home.vector() + np.linspace(-0.1, 0.1, 14) - 0.2 * GRIPPER_MASK
EXTRA = ("lift", "neck")


def _leader() -> JointStateLeader:
    return JointStateLeader(STATION, EXTRA)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_shuffled_joints_with_extra_ones_and_split_over_topics_read_as_the_sorted_ones(data: st.DataObject) -> None:
    """B21: the driver published names alphabetically, and the elbow was taken for the shoulder."""
    leader = _leader()
    for n in range(3):
        names = data.draw(st.permutations([*CHANNELS, *EXTRA]))
        split = data.draw(st.integers(0, len(names)))
        pose = POSE + 0.01 * n
        value = dict(zip(CHANNELS, pose, strict=True))
        for part in (names[:split], names[split:]):
            leader.take(part, [value.get(name, 9.0) for name in part], 1000 + n)
        np.testing.assert_allclose(leader.sample().values, pose)
        assert leader.sample().arms == ("left", "right")


def test_a_gripper_may_come_as_its_slide_in_metres_under_its_urdf_name() -> None:
    metres = np.where(GRIPPER_MASK, POSE * GRIPPER_TRAVEL_M, POSE)
    leader = _leader()
    leader.take(URDF_NAMES, list(metres), 5)
    np.testing.assert_allclose(leader.sample().values, POSE)


def test_missing_joints_are_named_and_their_arm_is_not_there() -> None:
    """B21"""
    leader = _leader()
    names = [name for name in CHANNELS if name != "right_joint3"]
    leader.take(names, [POSE[CHANNELS.index(name)] for name in names], 5)
    sample = leader.sample()
    assert sample.arms == ("left",)
    assert "right_joint3" in sample.trouble


@pytest.mark.parametrize(
    ("names", "values", "named"),
    [
        (("left_joint1", "left_joint1"), (0.0, 0.1), "left_joint1"),
        (("left_gripper", "left_joint7"), (0.5, 0.01), "left_joint7"),
        (("left_elbow",), (0.0,), "left_elbow"),
        (("left_joint2",), (float("nan"),), "left_joint2"),
        (("left_joint2", "left_joint3"), (0.1,), "leader joints"),
    ],
)
def test_what_is_unknown_double_or_not_finite_is_refused_by_name_and_nothing_of_it_taken(
    names: tuple[str, ...], values: tuple[float, ...], named: str
) -> None:
    """B21"""
    leader = _leader()
    leader.take(CHANNELS, list(POSE), 5)
    with pytest.raises(FieldError, match=named) as refused:
        leader.take(names, values, 6)
    assert named in str(refused.value) or "joint name" in str(refused.value)
    np.testing.assert_allclose(leader.sample().values, POSE)
    assert leader.sample().stamp_ns == 5


def test_a_sample_is_as_old_as_its_oldest_joint() -> None:
    leader = _leader()
    leader.take(CHANNELS, list(POSE), 5)
    leader.take(CHANNELS[:7], list(POSE[:7]), 9)
    assert leader.sample().stamp_ns == 5


def test_a_glitch_shows_the_reading_before_and_lets_it_grow_old() -> None:
    """B27"""
    leader = _leader()
    leader.take(CHANNELS, list(POSE), 5)
    assert leader.sample().stamp_ns == 5
    bad = POSE.copy()
    bad[1] += 1.0
    leader.take(CHANNELS, list(bad), 6)
    sample = leader.sample()
    np.testing.assert_allclose(sample.values, POSE)
    assert sample.stamp_ns == 5
