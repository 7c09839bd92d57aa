"""Rotations as URDF writes them. No ROS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_SMALL_RAD: Final = 1e-12
_UPRIGHT: Final = 1.0 - 1e-12


def matrix_of(rotation_rad: Sequence[float]) -> NDArray[np.float64]:
    """(3, 3) of a rotation vector [rad], by Rodrigues' formula."""
    vector = np.asarray(rotation_rad, np.float64)
    angle = float(np.linalg.norm(vector))
    if angle < _SMALL_RAD:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross


def rpy_of(matrix: NDArray[np.float64]) -> tuple[float, float, float]:
    """Roll, pitch, yaw [rad] about fixed x, y, z axes, as `rpy` of a URDF origin: R = Rz(yaw) Ry(pitch) Rx(roll).

    Where the view is straight along z, roll and yaw turn about one axis: then roll is 0.
    """
    down = float(np.clip(matrix[2, 0], -1.0, 1.0))
    if abs(down) > _UPRIGHT:
        return 0.0, math.copysign(math.pi / 2, -down), math.atan2(-float(matrix[0, 1]), float(matrix[1, 1]))
    roll = math.atan2(float(matrix[2, 1]), float(matrix[2, 2]))
    return roll, -math.asin(down), math.atan2(float(matrix[1, 0]), float(matrix[0, 0]))
