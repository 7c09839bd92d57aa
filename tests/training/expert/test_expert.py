"""The scripted expert and the inverse kinematics under it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.errors import ActionError
from contract.layout import ARMS, GRIPPER_MASK, SIZE, Arm, arm_of
from robot_client.twin.judge import Phase
from robot_client.twin.kinematics import Kinematics, pointing_down
from robot_client.twin.layouts import ARM_BASE_M, REACH_M
from robot_client.twin.tasks import TASKS
from robot_client.twin.twin import Twin
from robot_client.twin.world import park_pose
from training.expert.expert import Expert
from training.expert.path import ROW_S, Waypoint, min_jerk, rows_to
from training.expert.rollout import run_episode
from training.expert.waypoints import HOVER_M


def test_the_expert_solves_every_pair_through_all_phases_in_order(twin: Twin) -> None:
    for i, task in enumerate(TASKS):
        episode = run_episode(twin, 500 + i, task)
        assert episode.success, episode
        assert episode.misplaced is None
        assert episode.rows < 90
        assert list(dict.fromkeys(episode.phases)) == [phase.value for phase in Phase], episode


def test_an_episode_is_a_pure_function_of_seed_task_and_noise(twin: Twin) -> None:
    first = run_episode(twin, 3, noise_rad=0.02)
    run_episode(twin, 4)
    assert run_episode(twin, 3, noise_rad=0.02) == first


def test_a_thing_knocked_out_of_the_hand_is_picked_up_again(twin: Twin) -> None:
    layout = twin.reset(9)
    expert, before = Expert(twin), twin.world.target
    spot = layout.things[layout.task.object]
    lost = False
    for _ in range(250):
        row = expert.next_row()
        if row is None:
            break
        if expert.purpose == "carry" and not lost:
            joint = twin.world.data.joint(layout.task.object)
            joint.qpos[:3] = [spot.x_m, spot.y_m, 0.03]
            lost = True
        twin.glide(before, row, ROW_S)
        before = row
    assert lost
    assert expert.tries == 2
    assert twin.advance(before, 0.5).success


def test_only_the_chosen_arm_moves_and_rows_are_within_speed(twin: Twin) -> None:
    layout = twin.reset(12)
    other: Arm = "right" if layout.arm == "left" else "left"
    expert, before = Expert(twin), twin.world.target
    expert_rows = []
    while (row := expert.next_row()) is not None and len(expert_rows) < 100:
        twin.glide(before, row, ROW_S)
        expert_rows.append(row)
        before = row
    rows = np.array(expert_rows)
    np.testing.assert_allclose(arm_of(rows[-1], other), arm_of(park_pose(), other))
    assert np.abs(np.diff(rows[:, ~GRIPPER_MASK], axis=0)).max() / ROW_S < 2.1


@given(s=st.floats(0.0, 1.0))
def test_min_jerk_starts_and_ends_at_rest_and_is_symmetric(s: float) -> None:
    assert min_jerk(0.0) == 0.0
    assert min_jerk(1.0) == pytest.approx(1.0)
    assert min_jerk(s) + min_jerk(1.0 - s) == pytest.approx(1.0)
    assert min_jerk(1e-3) < 1e-7


@given(change=st.floats(-1.0, 1.0), least_s=st.floats(0.05, 2.0))
def test_a_move_ends_exactly_at_its_waypoint_and_takes_its_least_time(change: float, least_s: float) -> None:
    goal = np.full(SIZE, change)
    rows = list(rows_to(np.zeros(SIZE), Waypoint(goal, least_s, "test")))
    np.testing.assert_array_equal(rows[-1], goal)
    assert len(rows) * ROW_S >= least_s - 1e-6


@pytest.fixture(scope="module")
def kinematics(twin: Twin) -> Kinematics:
    return Kinematics(twin.world.model)


@pytest.mark.parametrize("arm", ARMS)
def test_inverse_kinematics_reach_the_whole_declared_ring_at_table_and_hover_height(
    kinematics: Kinematics, arm: Arm
) -> None:
    base = ARM_BASE_M[arm]

    @settings(max_examples=60, deadline=None)
    @given(
        radius=st.floats(*REACH_M),
        angle=st.floats(-1.2, 1.2),
        height=st.floats(0.014, HOVER_M),
        turn=st.floats(-0.9, 0.9),
    )
    def check(radius: float, angle: float, height: float, turn: float) -> None:
        goal = np.array([base[0] + radius * math.cos(angle), base[1] + radius * math.sin(angle), height])
        rotation = pointing_down(angle + turn)
        position, turned = kinematics.tool_pose(arm, kinematics.joints_for(arm, goal, rotation))
        np.testing.assert_allclose(position, goal, atol=1e-3)
        np.testing.assert_allclose(turned, rotation, atol=1e-2)

    check()


def test_a_point_out_of_reach_is_an_error_that_names_arm_and_point(kinematics: Kinematics) -> None:
    with pytest.raises(ActionError, match=r"left arm.*0\.9.*missed by"):
        kinematics.joints_for("left", np.array([0.9, 0.0, 0.1]), pointing_down(0.0))
