"""Arm and board poses with a known camera."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from calibration.hand_eye import Mounting
from calibration.rigid import Matrix, inverse, matrix

X = matrix(np.array([0.3, -2.2, 0.9]), np.array([0.04, -0.06, 0.09]))
"""hand_from_camera, or base_from_camera."""
STILL = matrix(np.array([3.0, 0.1, -0.2]), np.array([0.4, 0.1, 0.02]))
"""base_from_board, or hand_from_board."""

Turn = Callable[[np.random.Generator], np.ndarray]


def any_turn(rng: np.random.Generator) -> np.ndarray:
    """Up to half a radian about each axis."""
    return rng.uniform(-0.6, 0.6, 3)


def poses(
    count: int, mounting: Mounting = "eye_in_hand", turn: Turn = any_turn, noise: float = 0.0, seed: int = 0
) -> tuple[list[Matrix], list[Matrix]]:
    """base_from_hand and camera_from_board of `count` poses; `noise` is millimetres and milliradians on the board."""
    rng = np.random.default_rng(seed)
    first = Rotation.from_rotvec([0.2, 3.0, 0.1])
    hands, boards = [], []
    for _ in range(count):
        rotation = (first * Rotation.from_rotvec(turn(rng))).as_matrix()
        hand = matrix(rotation, np.array([0.3, 0.0, 0.3]) + rng.uniform(-0.1, 0.1, 3))
        carried = hand if mounting == "eye_in_hand" else inverse(hand)
        board = inverse(X) @ inverse(carried) @ STILL
        shake = matrix(1e-3 * noise * rng.standard_normal(3), 1e-3 * noise * rng.standard_normal(3))
        hands.append(hand)
        boards.append(shake @ board)
    return hands, boards
