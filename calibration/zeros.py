"""Zeros of joints 2 to 5 from hand-eye views: the only zeros with which one still board looks still from every pose.

Joint 1's zero cannot be told from a turn of the base, nor joint 6's from a turn of the camera or board on the hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from calibration.cell import hand_pose
from calibration.eyes import Eye
from calibration.hand_eye import Mounting
from calibration.rigid import Matrix, from_vector, inverse, vector

SUSPECT_RAD: Final = 0.01
"""A zero that is this far off moves the fingertips by about 5 mm."""
_JOINTS: Final = slice(1, 5)
_ARM_M: Final = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Zeros:
    """Measured less true."""

    offsets_rad: NDArray[np.float64]
    """(4,) of joints 2 to 5."""
    uncertainty_rad: NDArray[np.float64]
    """(4,) one standard deviation, from the residuals and how well the poses pin each joint down."""

    def suspects(self) -> list[str]:
        """Joints in words whose zero is off by more than a hundredth and three times its uncertainty."""
        found = []
        for i, (offset, sure) in enumerate(zip(self.offsets_rad, self.uncertainty_rad, strict=True)):
            if abs(offset) > max(SUSPECT_RAD, 3.0 * sure):
                found.append(f"joint{i + 2} reads {offset:+.3f} rad too much")
        return found


def zeros_from_views(joints: Sequence[NDArray], boards: Sequence[Matrix], eye: Eye, mounting: Mounting) -> Zeros:
    """Of measured joints (n, 6) [rad] and camera_from_board of the same poses, starting at a solved hand-eye."""

    def errors(values: NDArray) -> NDArray:
        x, still, rows = from_vector(values[4:10]), inverse(from_vector(values[10:])), []
        for measured, board in zip(joints, boards, strict=True):
            true = np.array(measured, np.float64)
            true[_JOINTS] -= values[:4]
            hand = hand_pose(true)
            row = vector(still @ (hand if mounting == "eye_in_hand" else inverse(hand)) @ x @ board)
            rows.append(np.concatenate([_ARM_M * row[:3], row[3:]]))
        return np.concatenate(rows)

    start = np.concatenate([np.zeros(4), vector(eye.result.x), vector(eye.result.board)])
    best = least_squares(errors, start)
    spread = float(np.sum(best.fun**2)) / max(len(best.fun) - len(start), 1)
    covariance = spread * np.linalg.pinv(best.jac.T @ best.jac)
    return Zeros(best.x[:4], np.sqrt(np.diag(covariance)[:4]))
