"""Arms against their model, on arms that do exactly what they are told, or something else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.arm_check import checked_travel, directions, gripper_travel, zeros
from calibration.cell import Cell, hand_pose
from calibration.rigid import difference
from contract.errors import ConfigurationError
from contract.layout import index
from contract.station import load_station
from robot_client.clock import NS_PER_S, FakeClock
from robot_client.rigs.base import JointReading
from robot_client.rigs.ideal import IdealRig
from robot_client.teleop.turns import sweep_range

STATION = load_station("twin")
HOME = np.tile(STATION.poses.home.vector()[:7], 2)
"""Both arms alike, so that exchanged readings fit at first."""


class Wired(IdealRig):
    """An ideal rig whose readings come through a wrong wire."""

    def __init__(self, clock: FakeClock, wrong: Callable[[NDArray], NDArray]) -> None:
        super().__init__(clock, HOME)
        self.wrong = wrong

    def joints(self) -> JointReading:
        reading = super().joints()
        return JointReading(self.wrong(reading.positions.copy()), reading.velocities, reading.stamp_ns)


def _cell(wrong: Callable[[NDArray], NDArray] = lambda q: q) -> Cell:
    clock = FakeClock(NS_PER_S)
    # Limits without distances: what is watched here is what comes back, and a tick is a tenth as long.
    free = STATION.model_copy(update={"safety": STATION.safety.model_copy(update={"space": None})})
    return Cell(Wired(clock, wrong), clock, free, loop_hz=50.0)


def _reversed(positions: NDArray) -> NDArray:
    i = index("left_joint3")
    positions[i] = 2 * HOME[i] - positions[i]
    return positions


def _exchanged(positions: NDArray) -> NDArray:
    return positions[[*range(7, 14), *range(7)]]


def test_joints_that_turn_as_told_are_all_forward_and_the_gripper_has_its_travel() -> None:
    cell = _cell()
    assert directions(cell, "left") == (1,) * 6
    assert gripper_travel(cell, "right").share == pytest.approx(1.0, abs=0.01)


def test_a_joint_that_turns_the_other_way_is_named() -> None:
    with pytest.raises(ConfigurationError, match="left_joint3: expected to turn as told"):
        directions(_cell(_reversed), "left")


def test_arms_that_were_exchanged_are_named() -> None:
    with pytest.raises(ConfigurationError, match="right_joint1 moved"):
        directions(_cell(_exchanged), "left")


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_collapsed_or_mirrored_gripper_is_refused_naming_the_arm(side: str) -> None:
    """B25: rising, falling, equal limits; less than a fifth of the travel is a blocked jaw, not a gripper."""
    assert checked_travel(side, 0.02, 0.97).share == pytest.approx(0.95)  # type: ignore[arg-type]
    for closed, opened, word in ((0.4, 0.4, "collapsed"), (0.4, 0.55, "collapsed"), (1.0, 0.0, "mirrored")):
        with pytest.raises(ConfigurationError, match=rf"{side} gripper.*{word}"):
            checked_travel(side, closed, opened)  # type: ignore[arg-type]


def test_a_blocked_gripper_is_refused_when_it_is_moved() -> None:
    """B25: jaws blocked during automatic range finding; nothing complained."""

    def blocked(positions: NDArray) -> NDArray:
        positions[index("right_gripper")] = 0.5 + 0.1 * positions[index("right_gripper")]
        return positions

    with pytest.raises(ConfigurationError, match=r"right gripper.*collapsed"):
        gripper_travel(_cell(blocked), "right")


def test_zeros_across_the_seam_are_the_short_way_and_a_lost_turn_is_named() -> None:
    """B27: error 6.283 between 3.142 and -3.141; turns lost at power-up."""
    reference = np.zeros(6)
    np.testing.assert_allclose(zeros("left", reference + 0.01, reference), 0.01)
    with pytest.raises(ConfigurationError, match=r"left_joint4.*\+1 turn"):
        zeros("left", reference + 2 * np.pi * (np.arange(6) == 3), reference)
    with pytest.raises(ConfigurationError, match="right_joint2"):
        zeros("right", reference + 0.2 * (np.arange(6) == 1), reference)


def test_hand_eye_sees_a_hundredth_between_joints_on_both_sides_of_the_seam() -> None:
    """B27: hand-eye code on the pair (3.13, -3.13) turns by 0.02, not by 6.26."""
    before, after = (hand_pose(np.array([0.0, 1.0, 1.0, 0.0, 0.0, q])) for q in (3.13, -3.13))
    assert difference(before, after)[1] == pytest.approx(2 * np.pi - 6.26, abs=1e-6)


def test_a_calibration_sweep_across_the_encoders_seam_has_the_right_range() -> None:
    """B27: the sweep was recorded as almost a whole turn."""
    low, high = sweep_range([(q + np.pi) % (2 * np.pi) - np.pi for q in np.linspace(2.0, 4.0, 50)])
    assert high - low == pytest.approx(2.0)
