"""The tool's speed: the chain is i2rt's, and whatever is asked, no tool is faster than the station allows."""

from __future__ import annotations

import timeit
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.layout import ARMS, JOINT_MASK, joints_of
from contract.station import load_station
from robot_client.i2rt_paths import station_mjcf
from robot_client.safety.kinematics import tool_jacobian
from robot_client.safety.limiter import limit
from robot_client.safety.limits import Clip, Limits, limits_of, seeded

STATION = load_station("twin")
PERIOD_S = 0.01
LIMIT_M_S = 0.25
HOME = STATION.poses.home.vector()
LIMITS = replace(limits_of(STATION.safety, PERIOD_S), tool_speed_m_s=LIMIT_M_S)


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(station_mjcf()))


@given(st.lists(st.floats(-2.5, 2.5), min_size=6, max_size=6))
@settings(max_examples=60, deadline=None)
def test_tool_and_jacobian_are_those_of_the_model(model: mujoco.MjModel, joints: list[float]) -> None:
    data = mujoco.MjData(model)
    for arm in ARMS:
        addresses = [model.joint(f"{arm}_joint{i}").qposadr[0] for i in range(1, 7)]
        degrees = [model.joint(f"{arm}_joint{i}").dofadr[0] for i in range(1, 7)]
        data.qpos[addresses] = joints
        mujoco.mj_forward(model, data)
        base = data.body(f"{arm}_base").xpos
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jacSite(model, data, jacobian, None, model.site(f"tcp_{arm}").id)
        tool, ours = tool_jacobian(np.array(joints))
        np.testing.assert_allclose(tool, data.site(f"tcp_{arm}").xpos - base, atol=2e-6)
        np.testing.assert_allclose(ours, jacobian[:, degrees], atol=1e-5)


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


def test_without_the_limit_the_same_course_is_faster() -> None:
    """The property above would hold on any course that is slow anyway."""
    course = np.repeat([HOME + 0.6 * JOINT_MASK, HOME], 120, axis=0)
    free, none = _fastest(replace(LIMITS, tool_speed_m_s=float("inf")), course, HOME)
    kept, slowed = _fastest(LIMITS, course, HOME)
    assert free > 2 * LIMIT_M_S and none == 0
    assert kept <= LIMIT_M_S and slowed > 50


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
