"""Arms stop on their way: all joints of an arm by one scale, as hard as the slowest motor may."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.layout import ARMS, GRIPPER_MASK, JOINT_MASK, arm_of, index, joints_of
from contract.station import load_station
from robot_client.safety.interval import braking_interval
from robot_client.safety.kinematics import tool_jacobian
from robot_client.safety.limiter import brake
from robot_client.safety.limits import Told, limits_of
from robot_client.safety.space import FREE
from robot_client.safety.stopping import braking_periods, stopped_speed, way_to_rest

PERIOD_S = 0.01
LIMITS = replace(limits_of(load_station("twin").safety, PERIOD_S), space=FREE)
MIDDLE = (LIMITS.lower + LIMITS.upper) / 2
STEP = LIMITS.acceleration * PERIOD_S


def _moving(velocity: np.ndarray, position: np.ndarray = MIDDLE) -> Told:
    return Told(position.copy(), velocity, position.copy())


def _stopped(velocity: np.ndarray) -> np.ndarray:
    told = _moving(velocity)
    return stopped_speed(told, LIMITS, braking_interval(told, LIMITS))


def test_joints_of_an_arm_take_as_long_as_its_slowest_and_grippers_their_own_time() -> None:
    velocity = np.zeros(14)
    velocity[index("left_joint1")], velocity[index("left_joint4")] = -0.8, 0.3
    velocity[index("left_gripper")], velocity[index("right_gripper")] = 2.0, -0.2
    periods = braking_periods(velocity, LIMITS)
    np.testing.assert_allclose(joints_of(periods, "left"), 10.0)
    np.testing.assert_allclose(joints_of(periods, "right"), 0.0)
    np.testing.assert_allclose(periods[GRIPPER_MASK], [5.0, 0.5])
    speed = _stopped(velocity)
    np.testing.assert_allclose(joints_of(speed, "left"), 0.9 * joints_of(velocity, "left"))
    np.testing.assert_allclose(speed[GRIPPER_MASK], [1.6, 0.0])


def test_less_than_one_period_of_braking_is_rest_and_rounding_is_no_speed() -> None:
    velocity = STEP * np.where(JOINT_MASK, 0.999, -0.999)
    assert not _stopped(velocity).any()
    assert not _stopped(STEP.copy()).any()
    np.testing.assert_array_equal(braking_periods(np.full(14, 1e-13), LIMITS), 0.0)
    assert (braking_periods(np.full(14, 1e-11), LIMITS) > 0.0).all()
    np.testing.assert_allclose(_stopped(1.5 * STEP), 0.5 * STEP)


def test_a_joint_that_would_run_past_its_limit_brakes_harder_than_the_rest() -> None:
    velocity, position, near = np.zeros(14), MIDDLE.copy(), index("right_joint5")
    velocity[index("right_joint1")], velocity[near] = 1.5, 1.2
    position[near] = LIMITS.upper[near] - 1.2**2 / (2 * LIMITS.acceleration[near]) - 0.5 * STEP[near] * 0.13
    told, worst = _moving(velocity, position), 0.0
    way, off, _ = way_to_rest(told, LIMITS)
    assert way[near] == pytest.approx(LIMITS.upper[near] - position[near])
    np.testing.assert_allclose(off, [0.0, 1.2 * (1.5 / 8 - PERIOD_S) / 2 - way[near]], atol=2e-3)
    while told.velocity.any():
        after = brake(told, LIMITS).told
        worst = max(worst, float((np.abs(after.velocity - told.velocity) / STEP).max()))
        told = after
        assert told.position[near] <= LIMITS.upper[near]
    assert worst <= 1.0 + 1e-9
    assert told.position[near] > LIMITS.upper[near] - 0.03


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(0.0, 1.0))
def test_the_way_to_rest_is_where_braking_ends(seed: int, scale: float) -> None:
    """The guard judges the way before it is taken, so it must be the way that is taken."""
    velocity = scale * np.random.default_rng(seed).uniform(-1, 1, 14) * LIMITS.speed
    told = _moving(velocity)
    way, off, seconds = way_to_rest(told, LIMITS)
    np.testing.assert_array_equal(off, 0.0)
    np.testing.assert_allclose(seconds * velocity, way, atol=1e-12)
    ticks = 0
    while told.velocity.any() and ticks < 100:
        told, ticks = brake(told, LIMITS).told, ticks + 1
        gone = told.position - MIDDLE
        for arm in ARMS:
            # On the straight way, between its ends.
            share = joints_of(gone, arm) @ joints_of(way, arm) / max(float(np.square(joints_of(way, arm)).sum()), 1e-18)
            np.testing.assert_allclose(joints_of(gone, arm), share * joints_of(way, arm), atol=1e-9)
    np.testing.assert_allclose(told.position - MIDDLE, way, atol=1e-9)
    assert ticks < 100


def test_the_way_to_rest_of_an_arm_outside_its_limits_ends_where_it_is() -> None:
    outside = LIMITS.upper + 0.1
    way, off, _ = way_to_rest(_moving(np.where(JOINT_MASK, 1.0, 0.0), outside), LIMITS)
    np.testing.assert_array_equal(way, 0.0)
    assert (off > 0.1).all()
    inward, off, _ = way_to_rest(_moving(np.where(JOINT_MASK, -1.0, 0.0), outside), LIMITS)
    assert (inward[JOINT_MASK] < 0.0).all() and not off.any()
    below = LIMITS.lower - 0.1
    assert not way_to_rest(_moving(np.where(JOINT_MASK, -1.0, 0.0), below), LIMITS)[0].any()
    assert (way_to_rest(_moving(np.where(JOINT_MASK, 1.0, 0.0), below), LIMITS)[0][JOINT_MASK] > 0.0).all()


def test_many_arms_stop_each_for_itself() -> None:
    random = np.random.default_rng(6)
    velocity = random.uniform(-1, 1, (5, 14)) * LIMITS.speed
    position = random.uniform(LIMITS.lower, LIMITS.upper, (5, 14))
    np.testing.assert_array_equal(braking_periods(velocity, LIMITS), [braking_periods(v, LIMITS) for v in velocity])
    together = way_to_rest(_moving(velocity, position), LIMITS)
    singles = [way_to_rest(_moving(v, p), LIMITS) for v, p in zip(velocity, position, strict=True)]
    for array, alone in zip(together, zip(*singles, strict=True), strict=True):
        np.testing.assert_array_equal(array, alone)
    assert together[1].any()


def test_joints_that_cancelled_each_other_do_not_swing_the_tool_while_they_brake() -> None:
    """Each braking as hard as it can, joints of different speed let the tool swing on its way to rest."""
    position = load_station("twin").poses.home.vector()
    _, jacobian = tool_jacobian(joints_of(position, "left"))
    null = np.linalg.svd(jacobian)[2][3:]
    joints = null[int(np.argmax(np.abs(null[:, :3]).min(axis=1)))]
    velocity = np.zeros(14)
    arm_of(velocity, "left")[:6] = joints * (1.0 / np.abs(joints).max())
    told, fastest, free = _moving(velocity, position), [], []
    hard = told
    while told.velocity.any():
        after = brake(told, LIMITS).told
        fastest.append(_tool_way(told.position, after.position) / PERIOD_S)
        told = after
        speed = hard.velocity - np.clip(hard.velocity, -STEP, STEP)
        each = Told(hard.position + speed * PERIOD_S, speed, hard.position)
        free.append(_tool_way(hard.position, each.position) / PERIOD_S)
        hard = each
    assert max(fastest) < 0.1
    assert max(free) > 2 * max(fastest)


def _tool_way(before: np.ndarray, after: np.ndarray) -> float:
    tools = [tool_jacobian(joints_of(position, "left"))[0] for position in (before, after)]
    return float(np.linalg.norm(tools[1] - tools[0]))
