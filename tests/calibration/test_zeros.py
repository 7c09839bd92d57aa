"""Zeros of all joints from what cameras see, with known errors in what the joints read."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.hand_eye import Mounting
from calibration.rigid import Matrix, inverse, matrix
from calibration.zero_check import said
from calibration.zero_references import Bases, by_bases, by_jaws, standing
from calibration.zeros import Fitted, Seen, fit, hands_of
from contract.errors import ConfigurationError
from contract.station import load_station
from tests.calibration.poses import STILL, X

SPACE = load_station("twin").safety.space
JAWS = matrix(np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]), np.array([0.0, 0.1, 0.3]))
"""hand_from_board of a board clamped flat: its z lies along the gripper's x."""


def seen(
    offset: NDArray, mounting: Mounting = "eye_in_hand", still: Matrix = STILL, x: Matrix = X, role: str = "left_wrist",
    noise: float = 3e-4, seed: int = 0,
) -> Seen:  # fmt: skip
    rng = np.random.default_rng(seed)
    true = np.array([0.0, 1.2, 1.3, -0.8, 0.0, 0.0]) + rng.uniform(-0.45, 0.45, (24, 6))
    hands = hands_of(true)
    boards = inverse(x) @ (np.linalg.inv(hands) if mounting == "eye_in_hand" else hands) @ still
    boards[:, :3, 3] += noise * rng.standard_normal((24, 3))
    return Seen(role, mounting, true + offset, boards)


def off(**joints: float) -> NDArray:
    return np.array([joints.get(f"joint{i}", 0.0) for i in range(1, 7)])


@pytest.mark.parametrize(("joint", "rad"), [(2, 0.02), (3, -0.06), (4, -0.015), (5, 0.03)])
def test_a_zero_of_joints_2_to_5_is_found_by_either_mounting(joint: int, rad: float) -> None:
    wrong = off(**{f"joint{joint}": rad})
    for mounting in ("eye_in_hand", "eye_to_hand"):
        found = fit([seen(wrong, mounting)])  # type: ignore[arg-type]
        np.testing.assert_allclose(found.offsets_rad, wrong[1:5], atol=0.003)


def test_zeros_that_are_right_are_found_to_be_so_within_what_is_claimed() -> None:
    found = fit([seen(off()), seen(off(), "eye_to_hand", role="top", seed=1)])
    assert (np.abs(found.offsets_rad) < 4 * found.uncertainty_rad).all() and found.uncertainty_rad.max() < 0.002


def test_joint_6_is_seen_against_the_board_between_the_jaws_and_by_nothing_else() -> None:
    """A wrist camera turns with joint 6, so its own fit is the same whatever joint 6 reads."""
    wrong = off(joint6=0.05, joint3=0.02)
    found = by_jaws(fit([seen(wrong, "eye_to_hand", JAWS, role="top")]), "top")
    assert found is not None and found.suspect
    assert found.offset_rad == pytest.approx(0.05, abs=0.003)
    still_right = by_jaws(fit([seen(off(), "eye_to_hand", JAWS, role="top")]), "top")
    assert still_right is not None and not still_right.suspect and abs(still_right.offset_rad) < 0.003
    assert by_jaws(fit([seen(wrong, "eye_to_hand", STILL, role="top")]), "top") is None


def _pair(left: NDArray, right: NDArray, role: str = "") -> tuple[Fitted, Fitted]:
    assert SPACE is not None
    stands = standing(SPACE)
    if role:
        top = matrix(np.array([2.2, 0.1, 0.2]), np.array([0.2, -0.3, 0.9]))
        return (
            fit([seen(left, "eye_to_hand", JAWS, top, role)]),
            fit([seen(right, "eye_to_hand", JAWS, inverse(stands) @ top, role, seed=1)]),
        )
    return fit([seen(left)]), fit([seen(right, still=inverse(stands) @ STILL, role="right_wrist", seed=1)])


@pytest.mark.parametrize("role", ["", "top"])
def test_joint_1_of_each_arm_is_seen_against_the_way_to_the_other_base(role: str) -> None:
    assert SPACE is not None
    left, right = _pair(off(joint1=0.03), off(joint1=-0.025, joint4=0.01), role)
    zeros, farther_m = by_bases(Bases(left, right, role), SPACE)
    assert zeros["left"].offset_rad == pytest.approx(0.03, abs=0.004) and zeros["left"].suspect
    assert zeros["right"].offset_rad == pytest.approx(-0.025, abs=0.004) and zeros["right"].suspect
    assert abs(farther_m) < 0.004


def test_bases_farther_apart_than_the_file_says_are_noticed_for_no_zero_changes_their_distance() -> None:
    assert SPACE is not None
    nearer = SPACE.right.model_copy(update={"position_m": (0.0, -0.58, 0.0)})
    left, right = _pair(off(joint1=0.03), off())
    _, farther_m = by_bases(Bases(left, right, ""), SPACE.model_copy(update={"right": nearer}))
    assert farther_m == pytest.approx(0.03, abs=0.003)


def test_a_board_that_slipped_is_no_zero() -> None:
    slipped = seen(off())
    slipped.boards[12:] = slipped.boards[12:] @ matrix(np.zeros(3), np.array([0.03, 0.0, 0.0]))
    with pytest.raises(ConfigurationError, match="did not slip"):
        fit([slipped])


def test_poses_that_turn_about_one_axis_only_are_refused() -> None:
    """B49: degenerate motion gives no zeros either."""
    rows = np.tile([0.0, 1.2, 1.3, -0.8, 0.0, 0.0], (12, 1))
    rows[:, 5] += np.linspace(-0.5, 0.5, 12)
    boards = inverse(X) @ np.linalg.inv(hands_of(rows)) @ STILL
    with pytest.raises(ConfigurationError, match="one axis only"):
        fit([Seen("left_wrist", "eye_in_hand", rows, boards)])


def test_people_read_which_joints_are_off_and_which_could_not_be_seen() -> None:
    found = by_jaws(fit([seen(off(joint6=0.05), "eye_to_hand", JAWS, role="top")]), "top")
    assert found is not None
    text = "\n".join(said("left", {6: found}))
    assert "WARNING left arm: joint6 reads +0.05" in text and "between its jaws" in text and "joint1 not seen" in text
