"""The tool's speed: whatever is asked, no tool is faster than the station allows."""

from __future__ import annotations

import timeit
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.layout import ARMS, GRIPPER_MASK, JOINT_MASK, joints_of, joints_of_both, per_arm
from contract.station import load_station
from robot_client.safety.interval import Interval
from robot_client.safety.kinematics import tool_jacobian
from robot_client.safety.limiter import limit
from robot_client.safety.limits import Clip, Limits, limits_of, seeded
from robot_client.safety.tool_speed import slowed

STATION = load_station("twin")
PERIOD_S = 0.01
LIMIT_M_S = 0.25
HOME = STATION.poses.home.vector()
LIMITS = replace(limits_of(STATION.safety, PERIOD_S), tool_speed_m_s=LIMIT_M_S)


def _fastest(limits: Limits, targets: np.ndarray, start: np.ndarray) -> tuple[float, int]:
    """Largest mean tool speed of a period over a run, and how many ticks were slowed for it."""
    told, fastest, slowed = seeded(start), 0.0, 0
    for target in targets:
        before = told.position
        verdict = limit(told, target, before, limits)
        told = verdict.told
        slowed += bool((verdict.clips & Clip.TOOL_SPEED).any())
        for arm in ARMS:
            way = tool_jacobian(joints_of(told.position, arm))[0] - tool_jacobian(joints_of(before, arm))[0]
            fastest = max(fastest, float(np.linalg.norm(way)) / PERIOD_S)
    return fastest, slowed


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=3, deadline=None)
def test_no_course_moves_a_tool_faster_than_allowed(seed: int) -> None:
    """Targets jump anywhere within the limits: 16 pairs of arms at once, each row holds a target for its own time."""
    random = np.random.default_rng(seed)
    hold, fastest, slowed = random.integers(1, 60, 16), 0.0, 0
    told = seeded(np.broadcast_to(HOME, (16, 14)))
    target = told.position
    for tick in range(100):
        jumps = random.uniform(LIMITS.lower, LIMITS.upper, target.shape)
        target = np.where((tick % hold == 0)[:, None], jumps, target)
        before = told.position
        verdict = limit(told, target, before, LIMITS)
        told, slowed = verdict.told, slowed + int((verdict.clips & Clip.TOOL_SPEED).any())
        for arm in ARMS:
            way = tool_jacobian(joints_of(told.position, arm))[0] - tool_jacobian(joints_of(before, arm))[0]
            fastest = max(fastest, float(np.linalg.norm(way, axis=-1).max()) / PERIOD_S)
    assert fastest <= LIMIT_M_S
    assert fastest > 0.8 * LIMIT_M_S and slowed > 20


def _many(seed: int, stop_share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Jacobians, stop, wanted, told and mask of 300 pairs of arms whose tools want 0 to 0.5 m/s."""
    random = np.random.default_rng(seed)
    position = random.uniform(LIMITS.lower, LIMITS.upper, (300, 14))
    jacobian = np.stack([tool_jacobian(joints_of(position, arm))[1] for arm in ARMS], axis=1)
    wanted = random.uniform(-1, 1, (300, 14)) * random.uniform(0.0, 1.0, (300, 1))
    stop = stop_share * wanted + 0.02 * random.normal(size=(300, 14)) * (stop_share > 0.0)
    wide = Interval(np.full(14, -9.0), np.full(14, 9.0))
    return jacobian, stop, wanted, *slowed(jacobian, stop, wanted, wide, LIMIT_M_S)


def _speeds(jacobian: np.ndarray, speed: np.ndarray) -> np.ndarray:
    return np.linalg.norm((jacobian @ joints_of_both(speed)[..., None])[..., 0], axis=-1)


@pytest.mark.parametrize("stop_share", [0.0, 0.3, -0.8])
def test_an_arm_is_slowed_as_a_whole_to_just_below_the_limit_and_only_if_it_is_too_fast(stop_share: float) -> None:
    jacobian, stop, wanted, told, mask = _many(1, stop_share)
    limit_m_s = 0.97 * LIMIT_M_S
    before, after, at_stop = (_speeds(jacobian, speed) for speed in (wanted, told, stop))
    fast = before > limit_m_s
    assert fast.any() and not fast.all() and (fast[:, 0] != fast[:, 1]).any()
    np.testing.assert_array_equal(mask, per_arm(fast))
    np.testing.assert_array_equal(told[~mask], wanted[~mask])
    np.testing.assert_array_equal(told[:, GRIPPER_MASK], wanted[:, GRIPPER_MASK])
    can = fast & (at_stop < limit_m_s)
    np.testing.assert_allclose(after[can], limit_m_s, rtol=1e-9)
    way, gone = joints_of_both(wanted - stop), joints_of_both(told - stop)
    share = (gone * way).sum(axis=-1) / np.square(way).sum(axis=-1)
    np.testing.assert_allclose(gone[fast], (share[..., None] * way)[fast], atol=1e-12)
    assert (share[fast] >= -1e-12).all() and (share[fast] < 1.0).all()
    too_fast = fast & (at_stop >= limit_m_s)
    np.testing.assert_array_equal(joints_of_both(told)[too_fast], joints_of_both(stop)[too_fast])
    assert stop_share == 0.0 or too_fast.any()


def test_one_pair_of_arms_is_slowed_as_among_many_also_when_both_are_too_fast() -> None:
    jacobian, stop, wanted, told, mask = _many(1, 0.0)
    wide, kinds = Interval(np.full(14, -9.0), np.full(14, 9.0)), set()
    for i in range(100):
        alone, slow = slowed(jacobian[i], stop[i], wanted[i], wide, LIMIT_M_S)
        np.testing.assert_allclose(alone, told[i], atol=1e-12)
        np.testing.assert_array_equal(slow, mask[i])
        # Eight times as long an arm with eight times the limit.
        np.testing.assert_allclose(slowed(8 * jacobian[i], stop[i], wanted[i], wide, 8 * LIMIT_M_S)[0], alone)
        kinds.add((bool(slow[0]), bool(slow[-1])))
    assert len(kinds) == 4


def test_a_tool_that_is_too_fast_only_aslant_is_slowed_among_others_too() -> None:
    jacobian, stop, wanted, _, _ = _many(1, 0.0)
    wanted = np.where(per_arm(np.array([True, False])), wanted, 0.0)
    ways = (jacobian @ joints_of_both(wanted)[..., None])[..., 0]
    aslant = (np.abs(ways) < 0.9 * LIMIT_M_S).all(axis=(1, 2)) & (_speeds(jacobian, wanted)[:, 0] > LIMIT_M_S)
    assert aslant.sum() > 5
    wide = Interval(np.full(14, -9.0), np.full(14, 9.0))
    told, mask = slowed(jacobian[aslant], stop[aslant], wanted[aslant], wide, LIMIT_M_S)
    assert mask[:, 0].all() and not mask[:, -1].any()
    assert (_speeds(jacobian[aslant], told) < LIMIT_M_S).all()


def test_what_an_arm_is_slowed_to_is_allowed_although_its_stop_is_not() -> None:
    jacobian, stop, wanted, _, _ = _many(2, 0.3)
    allowed = Interval(0.6 * wanted - 0.01, 0.6 * wanted + 0.01)
    wanted = np.where(JOINT_MASK, 0.6 * wanted + 0.01, wanted)
    told, mask = slowed(jacobian, stop, wanted, allowed, LIMIT_M_S)
    assert mask.any()
    inside = (told >= allowed.low - 1e-12) & (told <= allowed.high + 1e-12)
    assert inside[:, JOINT_MASK].all()


def test_without_the_limit_the_same_course_is_faster() -> None:
    """The property above would hold on any course that is slow anyway."""
    course = np.repeat([HOME + 0.6 * JOINT_MASK, HOME], 120, axis=0)
    free, none = _fastest(replace(LIMITS, tool_speed_m_s=float("inf")), course, HOME)
    kept, slowed = _fastest(LIMITS, course, HOME)
    assert free > 2 * LIMIT_M_S and none == 0
    assert kept <= LIMIT_M_S and slowed > 50


def test_a_slowed_arm_goes_on_evenly_just_below_the_limit() -> None:
    """The guard alone keeps the limit too, but by halves of a step: the arm would stutter."""
    goal, told, speeds = HOME.copy(), seeded(HOME), []
    joints_of(goal, "left")[:2] += (0.6, 0.3)
    for _ in range(60):
        after = limit(told, goal, told.position, LIMITS).told
        way = [tool_jacobian(joints_of(each.position, "left"))[0] for each in (told, after)]
        speeds.append(float(np.linalg.norm(way[1] - way[0])) / PERIOD_S)
        told = after
    assert min(speeds[20:]) > 0.96 * LIMIT_M_S and max(speeds) <= LIMIT_M_S


def test_a_slowed_arm_still_arrives_and_the_other_arm_is_not_slowed() -> None:
    goal = HOME.copy()
    joints_of(goal, "left")[:] += 0.4
    told = seeded(HOME)
    for _ in range(1500):
        verdict = limit(told, goal, told.position, LIMITS)
        assert not (verdict.clips & Clip.TOOL_SPEED)[7:].any()
        told = verdict.told
    np.testing.assert_allclose(told.position, goal, atol=1e-6)


def test_an_arm_already_too_fast_is_slowed_as_fast_as_its_motors_may() -> None:
    told = replace(seeded(HOME), velocity=np.where(JOINT_MASK, LIMITS.speed, 0.0))
    verdict = limit(told, HOME + 2.0 * JOINT_MASK, HOME, LIMITS)
    change = np.abs(verdict.told.velocity - told.velocity)
    assert (change <= LIMITS.acceleration * PERIOD_S + 1e-9).all()
    assert (np.abs(verdict.told.velocity[JOINT_MASK]) < LIMITS.speed[JOINT_MASK]).all()
    assert (verdict.clips[JOINT_MASK] & Clip.TOOL_SPEED).all()


def test_the_jacobian_costs_a_small_part_of_a_tick() -> None:
    """Not a benchmark: a guard against a simulator or a symbolic library in the loop."""
    joints = joints_of(HOME, "left")
    assert min(timeit.repeat(lambda: tool_jacobian(joints), number=20, repeat=5)) / 20 < 0.002
