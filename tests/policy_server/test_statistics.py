"""Normalised values and targets: what an action means, statistics, gripper polarity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pydantic import ValidationError

from contract.layout import GRIPPER_MASK, JOINT_MASK, SIZE
from contract.manifest import Action, BundleManifest, Statistics
from policy_server.engines.scripted_manifest import scripted_manifest
from policy_server.statistics import Normaliser

KINDS = ("absolute", "delta", "velocity")
STEP_S = 0.1
JOINTS = arrays(np.float32, SIZE, elements=st.floats(-3, 3, width=32))
PREFIX = st.integers(0, 8).flatmap(lambda n: arrays(np.float32, (n, SIZE), elements=st.floats(-3, 3, width=32)))


def statistics(kind: str, offset: float = 0.0, scale: float = 1.0) -> Statistics:
    return Statistics(kind=kind, offset=(offset,) * SIZE, scale=(scale,) * SIZE)


def manifest(kinds: tuple[str, ...], closed: int = 0, state: Statistics | None = None) -> BundleManifest:
    entries = {"absolute": (0.5, 2.0), "delta": (0.01, 0.25), "velocity": (-0.1, 1.5)}
    action = Action(
        kinds=kinds,
        statistics=tuple(statistics(kind, *entries[kind]) for kind in sorted(set(kinds))),
        gripper_closed_value=closed,
    )
    return scripted_manifest().model_copy(update={"action": action, "state": state or statistics("absolute")})


def mixed(joint_kind: str, gripper_kind: str) -> tuple[str, ...]:
    return tuple(gripper_kind if gripper else joint_kind for gripper in GRIPPER_MASK)


@given(JOINTS)
def test_absolute_output_is_the_target_itself_whatever_the_state(joints):
    """B24: an absolute policy must not be offset by the pose."""
    rows = Normaliser(manifest(mixed("absolute", "absolute"))).rows(np.full((3, SIZE), 0.1, np.float32), joints)
    np.testing.assert_allclose(rows, 0.1 * 2.0 + 0.5, rtol=1e-6)


@given(JOINTS)
def test_delta_adds_to_one_base_for_the_whole_chunk(joints):
    """B24: with state s, delta chunk d gives s + d for each row; adding rows up made arms run away."""
    rows = Normaliser(manifest(mixed("delta", "delta"))).rows(np.ones((5, SIZE), np.float32), joints)
    np.testing.assert_allclose(rows, np.broadcast_to(joints + 0.26, (5, SIZE)), atol=1e-6)


@given(JOINTS)
def test_velocity_is_integrated_by_the_row_step(joints):
    """B24: a velocity sent as a position drives the arm to its zero pose."""
    rows = Normaliser(manifest(mixed("velocity", "velocity"))).rows(np.ones((4, SIZE), np.float32), joints)
    steps = np.arange(1, 5)[:, np.newaxis] * 1.4 * STEP_S
    np.testing.assert_allclose(rows, joints + steps, atol=1e-5)


@given(JOINTS)
def test_delta_joints_with_an_absolute_gripper_keep_each_channel_to_its_kind(joints):
    """B24: the usual public checkpoint has delta joints and an absolute gripper."""
    rows = Normaliser(manifest(mixed("delta", "absolute"))).rows(np.ones((2, SIZE), np.float32), joints)
    np.testing.assert_allclose(rows[:, JOINT_MASK], np.broadcast_to(joints[JOINT_MASK] + 0.26, (2, 12)), atol=1e-6)
    np.testing.assert_allclose(rows[:, GRIPPER_MASK], 2.5)


@given(JOINTS, PREFIX, st.sampled_from(KINDS), st.sampled_from(KINDS), st.sampled_from([0, 1]))
def test_prefix_rows_come_back_as_they_were_for_every_kind_and_polarity(joints, prefix, joint, gripper, closed):
    """B09, B24: a prefix normalised otherwise than rows are de-normalised is a leap at every seam."""
    normaliser = Normaliser(manifest(mixed(joint, gripper), closed))
    normal = normaliser.prefix(prefix, joints)
    assert normal.shape == prefix.shape and normal.dtype == np.float32
    np.testing.assert_allclose(normaliser.rows(normal, joints), prefix, atol=2e-5)


@given(JOINTS, PREFIX)
def test_rows_after_a_prefix_go_on_from_its_last_row_for_a_velocity_policy(joints, prefix):
    normaliser = Normaliser(manifest(mixed("velocity", "velocity")))
    normal = np.concatenate([normaliser.prefix(prefix, joints), np.zeros((1, SIZE), np.float32)])
    before = prefix[-1] if len(prefix) else joints
    np.testing.assert_allclose(normaliser.rows(normal, joints)[-1], before - 0.1 * STEP_S, atol=2e-5)


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0])
def test_a_policy_with_one_for_closed_sees_and_gives_its_own_polarity(value):
    """B25: flipped once on the state and once on the action, the same for both arms, joints untouched."""
    normaliser = Normaliser(manifest(mixed("absolute", "absolute"), closed=1))
    joints = np.where(GRIPPER_MASK, value, 0.3).astype(np.float32)
    state = normaliser.state(joints)[0]
    np.testing.assert_allclose(state[GRIPPER_MASK], 1.0 - value, atol=1e-6)
    np.testing.assert_allclose(state[JOINT_MASK], 0.3, atol=1e-6)
    echo = ((state - 0.5) / 2.0)[np.newaxis].astype(np.float32)
    np.testing.assert_allclose(normaliser.rows(echo, joints)[0], joints, atol=1e-6)


def test_a_delta_gripper_of_the_other_polarity_moves_the_other_way():
    """B25: +0.26 towards closed in the policy's polarity is -0.26 in the contract's."""
    joints = np.where(GRIPPER_MASK, 0.5, 0.0).astype(np.float32)
    rows = Normaliser(manifest(mixed("delta", "delta"), closed=1)).rows(np.ones((1, SIZE), np.float32), joints)
    np.testing.assert_allclose(rows[0, GRIPPER_MASK], 0.24, atol=1e-6)
    np.testing.assert_allclose(rows[0, JOINT_MASK], 0.26, atol=1e-6)


@given(JOINTS)
def test_state_is_normalised_by_its_own_statistics(joints):
    normaliser = Normaliser(manifest(mixed("absolute", "absolute"), state=statistics("absolute", 0.2, 0.5)))
    np.testing.assert_allclose(normaliser.state(joints), [(joints - 0.2) / 0.5], atol=1e-5)


def test_undeclared_or_inconsistent_actions_are_refused():
    """B24: no declaration, a kind without statistics, statistics of no kind used, a scale that divides by nothing."""
    absolute = statistics("absolute")
    for kinds, entries in (
        ((), (absolute,)),
        (("delta",) * SIZE, (absolute,)),
        (("absolute",) * SIZE, (absolute, statistics("delta"))),
    ):
        with pytest.raises(ValidationError):
            Action(kinds=kinds, statistics=entries)
    for scale in (0.0, -1.0, float("nan")):
        with pytest.raises(ValidationError, match="scale of left_joint1"):
            statistics("absolute", 0.0, scale)
