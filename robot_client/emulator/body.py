"""The body of an emulated YAM arm: gravity, inertia, damping and end stops of six joints and a gripper."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

MOTORS: Final = 7
LOWER_RAD: Final = np.array([-2.61799, 0.0, 0.0, -1.69297, -1.5708, -2.0944])
UPPER_RAD: Final = np.array([3.14159, 3.66519, 3.14159, 1.5708, 1.5708, 2.0944])
"""End stops: joint ranges of i2rt's yam_v1 with the linear 4310 gripper."""
INERTIA_KG_M2: Final = np.array([0.25, 0.30, 0.20, 0.03, 0.02, 0.015, 0.01])
"""Diagonal, of the order of the links' and rotors' inertia; coupling between joints is left out."""
DAMPING_NM_S: Final = np.array([0.4, 0.4, 0.4, 0.1, 0.05, 0.05, 0.05])
"""Friction of the gears, always there."""
SHORTED_NM_S: Final = np.array([2.0, 2.0, 2.0, 0.4, 0.2, 0.2, 0.2])
"""Further damping of a motor without torque: the arm sinks, it does not drop like a stone."""
_STOP_NM_RAD: Final = 400.0
_STOP_NM_S: Final = 10.0
_FOLDED_RAD, _UNDER_TABLE_RAD = 0.15, -0.3
_TABLE_RAD: Final = np.array([-np.inf, -np.inf, -np.inf, 0.0, -np.inf, -np.inf, -np.inf])
_UPPER_ARM: Final = (-0.0019, 8.4481)
_FOREARM: Final = (-1.4546, -5.0531)
_WRIST: Final = (-0.2615, -1.5709)
"""Torque per sine and cosine of the links' angles [Nm]. Least squares over i2rt's yam_v1 + linear_4310 model at
straight wrist (joints 5, 6 = 0), where the fit is exact to 1e-4 Nm; a bent wrist makes it wrong by up to 0.5 Nm."""


def holding_nm(joints_rad: NDArray[np.float64]) -> NDArray[np.float64]:
    """(7,) torque that holds joints (>= 4 values) still against gravity; the gripper feels none."""
    upper = joints_rad[1]
    fore = upper - joints_rad[2]
    wrist = fore - joints_rad[3]
    at_wrist = _pair(_WRIST, wrist)
    at_elbow = _pair(_FOREARM, fore) + at_wrist
    return np.array([0.0, _pair(_UPPER_ARM, upper) + at_elbow, -at_elbow, -at_wrist, 0.0, 0.0, 0.0])


def stop_nm(
    position: NDArray[np.float64],
    velocity: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(7,) push of the end stops [Nm], and of the table under the hand of an arm that lies folded at zero."""
    lower = np.where(_lies(position), np.maximum(lower, _TABLE_RAD), lower)
    beyond = np.minimum(position - lower, 0.0) + np.maximum(position - upper, 0.0)
    return (
        -_STOP_NM_RAD * INERTIA_KG_M2 / INERTIA_KG_M2.max() * beyond - np.where(beyond != 0, _STOP_NM_S, 0) * velocity
    )


def _lies(position: NDArray[np.float64]) -> bool:
    return bool((position[1:3] < _FOLDED_RAD).all() and position[3] > _UNDER_TABLE_RAD)


def _pair(weights: tuple[float, float], angle: float) -> float:
    return float(weights[0] * np.sin(angle) + weights[1] * np.cos(angle))
