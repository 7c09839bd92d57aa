"""The arm's chain is the one of i2rt's model, and its Jacobian is how the tool moves."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.arm_shape import LINKS
from contract.layout import ARMS
from robot_client.i2rt_paths import station_mjcf
from robot_client.safety.kinematics import (
    LINK_REACH_M,
    ORIGIN,
    TOOL_REACH_M,
    base_at,
    jacobian_of,
    link_frames,
    tool_centre,
    tool_jacobian,
)

POSTURES = st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6).map(np.array)
SOME = np.random.default_rng(11).uniform(-3.0, 3.0, (2, 3, 6))


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(station_mjcf()))


def _turn(quaternion: np.ndarray) -> np.ndarray:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def test_each_link_stands_in_the_one_before_as_in_the_model_rounded_to_a_tenth_of_a_micrometre(
    model: mujoco.MjModel,
) -> None:
    """Far closer than postures could be compared: a digit that is wrong in the table is seen here."""
    frames, origins = link_frames(np.zeros(6))
    for arm in ARMS:
        for i, link in enumerate(LINKS[1:]):
            body, before = model.body(f"{arm}_{link}"), frames[i].T
            np.testing.assert_allclose(before @ (origins[i + 1] - origins[i]), np.round(body.pos, 7), atol=1e-8)
            np.testing.assert_allclose(before @ frames[i + 1], _turn(body.quat), atol=2e-8)
        tool = frames[6].T @ (tool_centre(frames, origins) - origins[6])
        np.testing.assert_allclose(tool, np.round(model.site(f"tcp_{arm}").pos, 7), atol=1e-8)


@given(POSTURES)
@settings(max_examples=60, deadline=None)
def test_links_tool_and_jacobian_are_those_of_the_model(model: mujoco.MjModel, joints: np.ndarray) -> None:
    data = mujoco.MjData(model)
    frames, origins = link_frames(joints)
    tool, ours = tool_jacobian(joints)
    for arm in ARMS:
        data.qpos[[model.joint(f"{arm}_joint{i}").qposadr[0] for i in range(1, 7)]] = joints
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        base = data.body(f"{arm}_base").xpos
        for i, link in enumerate(LINKS):
            body = data.body(f"{arm}_{link}")
            np.testing.assert_allclose(origins[i], body.xpos - base, atol=1e-6)
            np.testing.assert_allclose(frames[i], body.xmat.reshape(3, 3), atol=1e-6)
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jacSite(model, data, jacobian, None, model.site(f"tcp_{arm}").id)
        np.testing.assert_allclose(tool, data.site(f"tcp_{arm}").xpos - base, atol=1e-6)
        degrees = [model.joint(f"{arm}_joint{i}").dofadr[0] for i in range(1, 7)]
        np.testing.assert_allclose(ours, jacobian[:, degrees], atol=1e-6)


@given(POSTURES)
@settings(max_examples=20, deadline=None)
def test_the_jacobian_is_what_the_tool_does_when_one_joint_moves_a_little(joints: np.ndarray) -> None:
    little = 1e-5 * np.eye(6)
    ends = [tool_centre(*link_frames(joints + way)) for way in (little, -little)]
    np.testing.assert_allclose(tool_jacobian(joints)[1].T, (ends[0] - ends[1]) / 2e-5, atol=1e-8)


def test_on_a_base_the_whole_arm_is_turned_and_moved_with_it() -> None:
    turn = _turn(np.array([0.5, 0.5, -0.1, 0.7]) / np.linalg.norm([0.5, 0.5, -0.1, 0.7]))
    moved = np.array([1.0, -2.0, 0.5])
    frames, origins = link_frames(SOME)
    on_base = link_frames(SOME, base_at(turn, moved))
    np.testing.assert_allclose(on_base[0], turn @ frames, atol=1e-14)
    np.testing.assert_allclose(on_base[1], origins @ turn.T + moved, atol=1e-14)
    tool = tool_centre(frames, origins)
    there = tool_centre(*on_base)
    np.testing.assert_allclose(there, tool @ turn.T + moved, atol=1e-14)
    np.testing.assert_allclose(jacobian_of(*on_base, there), turn @ jacobian_of(frames, origins, tool), atol=1e-14)


def test_each_arm_of_many_stands_on_its_own_base_as_it_would_alone() -> None:
    turns = np.stack([np.eye(3), _turn(np.array([0.6, 0.0, 0.0, 0.8])), np.eye(3)])
    bases = base_at(turns, np.array([(0.0, 0.0, 0.0), (0.3, 0.2, 0.1), (1.0, 0.0, 0.0)]))
    np.testing.assert_array_equal(bases[0], ORIGIN)
    np.testing.assert_array_equal(ORIGIN, np.eye(4))
    frames, origins = link_frames(SOME, bases)
    jacobian = jacobian_of(frames, origins, tool_centre(frames, origins))
    assert frames.shape == (2, 3, 7, 3, 3) and origins.shape == (2, 3, 7, 3) and jacobian.shape == (2, 3, 3, 6)
    for row, arm in np.ndindex(2, 3):
        alone = link_frames(SOME[row, arm], bases[arm])
        np.testing.assert_allclose(frames[row, arm], alone[0], atol=1e-15)
        np.testing.assert_allclose(origins[row, arm], alone[1], atol=1e-15)
        np.testing.assert_allclose(jacobian[row, arm], jacobian_of(*alone, tool_centre(*alone)), atol=1e-15)


def test_links_and_tool_reach_as_far_as_the_lengths_between_their_joints_add_up(model: mujoco.MjModel) -> None:
    lengths = [np.linalg.norm(model.body(f"left_{link}").pos) for link in LINKS[2:]]
    np.testing.assert_allclose(LINK_REACH_M, [0.0, 0.0, *np.cumsum(lengths)], atol=1e-6)
    assert pytest.approx(np.linalg.norm(model.site("tcp_left").pos), abs=1e-6) == TOOL_REACH_M
