"""The physics: targets, gripper, power, determinism."""

from __future__ import annotations

import numpy as np
import pytest

from contract.errors import ActionError
from contract.layout import GRIPPER_MASK, GRIPPER_TRAVEL_M, JOINT_MASK, SIZE, gripper_of, index, joints_of
from robot_client.rigs.base import Stop
from robot_client.twin.layouts import make_layout
from robot_client.twin.twin import Twin
from robot_client.twin.world import park_pose


def test_the_arms_go_where_they_are_told(twin: Twin) -> None:
    twin.reset(1)
    target = park_pose()
    joints_of(target, "left")[:] = [0.2, 1.2, 1.2, -1.2, 0.3, -0.4]
    joints_of(target, "right")[:] = [-0.1, 0.8, 1.0, -1.0, -0.3, 0.5]
    before = twin.joints().positions
    twin.glide(before, target, 2.0)
    twin.advance(target, 0.5)
    np.testing.assert_allclose(twin.joints().positions, target, atol=0.01)
    np.testing.assert_allclose(twin.joints().velocities, 0.0, atol=0.02)


@pytest.mark.parametrize("opening", [0.0, 0.35, 1.0])
def test_the_gripper_value_maps_onto_the_slide_of_both_fingers(twin: Twin, opening: float) -> None:
    twin.reset(2)
    target = park_pose()
    target[GRIPPER_MASK] = opening
    twin.advance(target, 1.0)
    np.testing.assert_allclose(twin.joints().positions[GRIPPER_MASK], opening, atol=0.01)
    for name in ("left_joint7", "left_joint8", "right_joint7", "right_joint8"):
        slide = float(twin.world.data.joint(name).qpos[0])
        assert slide == pytest.approx(opening * GRIPPER_TRAVEL_M, abs=6e-4)


def test_targets_beyond_a_joint_or_the_gripper_are_limited_to_its_range(twin: Twin) -> None:
    twin.reset(2)
    target = np.where(GRIPPER_MASK, 2.0, park_pose())
    target[index("left_joint2")] = -1.0
    twin.advance(target, 1.5)
    positions = twin.joints().positions
    assert gripper_of(positions, "left") == pytest.approx(1.0, abs=0.01)
    assert twin.world.target[index("left_joint2")] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("bad", [np.full(SIZE, np.nan), np.full(SIZE, np.inf), np.zeros(13), np.zeros((1, SIZE))])
def test_a_target_that_is_not_fourteen_finite_numbers_is_refused_and_the_old_one_kept(
    twin: Twin, bad: np.ndarray
) -> None:
    """Case B23: a NaN must not reach a motor, and refusing it must not change what the arms follow."""
    twin.reset(3)
    before = twin.world.target
    with pytest.raises(ActionError, match="finite"):
        twin.world.follow(bad)
    np.testing.assert_array_equal(twin.world.target, before)


def test_equal_seeds_and_targets_give_equal_states_and_pictures_bit_for_bit(twin: Twin) -> None:
    def play() -> tuple[bytes, bytes]:
        twin.reset(5)
        target = park_pose()
        target[JOINT_MASK] += 0.2
        twin.advance(target, 1.0)
        return twin.world.data.qpos.tobytes() + twin.world.data.qvel.tobytes(), twin.render("top").tobytes()

    first = play()
    twin.reset(6)
    twin.advance(park_pose(), 0.3)
    twin.world.power(Stop.POWER_OFF)
    twin.world.step(100)
    assert play() == first


def test_relaxed_arms_float_and_arms_without_power_fall(twin: Twin) -> None:
    heights = {}
    for how in Stop:
        twin.reset(7)
        start = twin.world.tool_position("left")[2]
        twin.world.power(how)
        twin.world.step(100)
        heights[how] = twin.world.tool_position("left")[2] - start
    assert abs(heights[Stop.HOLD]) < 0.003
    assert abs(heights[Stop.RELAX]) < 0.02
    assert heights[Stop.POWER_OFF] < -0.1


def test_everything_rests_where_the_layout_puts_it(twin: Twin) -> None:
    for seed in range(8):
        layout = twin.reset(seed)
        twin.advance(park_pose(), 1.0)
        for name, spot in {**layout.things, **layout.places}.items():
            at = twin.world.body_position(name)
            assert np.hypot(at[0] - spot.x_m, at[1] - spot.y_m) < 0.002, (seed, name)
        assert twin.misplaced() is None
    assert make_layout(0) == twin.reset(0)
