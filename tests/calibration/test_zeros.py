"""Zeros of joints from what a wrist camera sees."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.cell import hand_pose
from calibration.eyes import Eye
from calibration.hand_eye import solve
from calibration.rigid import Matrix, inverse
from calibration.zeros import Zeros, zeros_from_views
from tests.calibration.poses import STILL, X


def _found(offset: NDArray, noise: float = 3e-4) -> Zeros:
    rng = np.random.default_rng(0)
    true = np.array([0.0, 1.2, 1.3, -0.8, 0.0, 0.0]) + rng.uniform(-0.45, 0.45, (24, 6))
    boards: list[Matrix] = [inverse(X) @ inverse(hand_pose(q)) @ STILL for q in true]
    for board in boards:
        board[:3, 3] += noise * rng.standard_normal(3)
    measured = true + offset
    result = solve([hand_pose(q) for q in measured], boards, "eye_in_hand")
    return zeros_from_views(list(measured), boards, Eye(result, 24, 0.0, 0.0), "eye_in_hand")


@pytest.mark.parametrize(("joint", "rad"), [(2, 0.02), (4, -0.015)])
def test_a_zero_that_is_off_is_found_and_named(joint: int, rad: float) -> None:
    offset = np.zeros(6)
    offset[joint - 1] = rad
    found = _found(offset)
    np.testing.assert_allclose(found.offsets_rad, offset[1:5], atol=0.003)
    assert len(found.suspects()) == 1 and found.suspects()[0].startswith(f"joint{joint} ")


def test_zeros_that_are_right_are_not_suspected() -> None:
    assert _found(np.zeros(6)).suspects() == []
