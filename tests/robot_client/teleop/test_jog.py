"""Jogging by keyboard: from where the follower is, slowly, within the limits, and never for long after a key."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.layout import ARMS, GRIPPER_MASK, JOINT_MASK, arm_of, index, joints_of
from robot_client.clock import FakeClock
from robot_client.safety.kinematics import tool_jacobian
from robot_client.teleop.jog import JOINT_STEP_RAD, TOOL_STEP_M, Jog
from robot_client.teleop.keyboard import KEYS, KeyboardLeader
from robot_client.teleop.sample import LeaderGoal
from tests.robot_client.stage import HOME, STATION

RULES = STATION.teleop


def _jog() -> Jog:
    jog = Jog(STATION)
    jog.set(HOME)
    return jog


def _tool(pose: np.ndarray, arm: str = "left") -> np.ndarray:
    return tool_jacobian(joints_of(pose, arm))[0]  # type: ignore[arg-type]


def test_a_press_turns_one_joint_by_one_step_and_nothing_else() -> None:
    jog = _jog()
    jog.joint = 3
    jog.step_joint(1)
    pose = jog.advance(10.0)
    expected = HOME.copy()
    expected[index("left_joint3")] += JOINT_STEP_RAD
    np.testing.assert_allclose(pose, expected)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("arm", ARMS)
def test_a_press_moves_the_tool_along_one_axis_of_the_arms_base(axis: int, arm: str) -> None:
    jog = _jog()
    if arm == "right":
        jog.other_arm()
    direction = np.eye(3)[axis]
    jog.step_tool(direction)
    way = _tool(jog.advance(10.0), arm) - _tool(HOME, arm)
    assert way @ direction == pytest.approx(TOOL_STEP_M, rel=0.35)
    assert np.linalg.norm(way - (way @ direction) * direction) < 0.35 * TOOL_STEP_M
    other = "left" if arm == "right" else "right"
    np.testing.assert_array_equal(arm_of(jog.pose, other), arm_of(HOME, other))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(KEYS)), max_size=200), st.floats(0.005, 0.1))
def test_whatever_is_typed_the_pose_stays_within_limits_and_jogging_speeds(keys: list[str], period_s: float) -> None:
    clock = FakeClock(10**9)
    leader = KeyboardLeader(_jog(), clock)
    leader.read(LeaderGoal(HOME, free=False))
    before = HOME
    for n in range(0, len(keys), 4):
        for key in keys[n : n + 4]:
            assert leader.press(key)
        clock.advance(int(period_s * 1e9))
        pose = leader.read(LeaderGoal(HOME, free=True)).values
        way = np.abs(pose - before)
        assert (way[JOINT_MASK] <= RULES.jog_rad_s * period_s + 1e-9).all()
        for arm in ARMS:
            assert np.linalg.norm(_tool(pose, arm) - _tool(before, arm)) <= RULES.jog_m_s * period_s * 1.05 + 1e-6
        lower, upper = STATION.safety.vectors("lower_rad", 0.0), STATION.safety.vectors("upper_rad", 1.0)
        assert ((pose >= lower - 1e-9) & (pose <= upper + 1e-9)).all()
        before = pose


def test_a_key_that_was_held_too_long_does_not_go_on_for_seconds() -> None:
    jog = _jog()
    for _ in range(500):
        jog.step_joint(1)
    assert np.abs(jog.advance(100.0) - HOME).max() <= 5 * JOINT_STEP_RAD + 1e-9


def test_a_takeover_begins_where_the_follower_is_and_forgets_what_was_typed_before() -> None:
    clock = FakeClock(10**9)
    leader = KeyboardLeader(Jog(STATION), clock)
    assert leader.read(None).arms == (), "nowhere before the loop has sent a pose"
    leader.press("+")
    assert np.isnan(leader.read(None).values).all()
    pose = HOME + 0.1 * JOINT_MASK - 0.2 * GRIPPER_MASK
    np.testing.assert_array_equal(leader.read(LeaderGoal(pose, free=False)).values, pose)
    clock.advance(10**9)
    np.testing.assert_array_equal(leader.read(LeaderGoal(pose, free=True)).values, pose)


def test_a_key_without_a_meaning_is_not_taken() -> None:
    assert not KeyboardLeader(_jog(), FakeClock(0)).press("7")
    assert not KeyboardLeader(_jog(), FakeClock(0)).press("")
