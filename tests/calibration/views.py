"""Views of boards from known poses with a known lens."""

from __future__ import annotations

import numpy as np

from calibration.board import Board
from calibration.camera import Camera
from calibration.rigid import Matrix, matrix

CAMERA = Camera(
    width=640, height=480, fx=590.0, fy=600.0, cx=325.0, cy=236.0, distortion=(0.08, -0.15, 0.001, -0.001, 0.0)
)


def facing(board: Board, distance_m: float = 0.5) -> Matrix:
    """The board's middle before the camera, its printed side towards it."""
    middle = np.array([board.columns, board.rows]) * board.square_m / 2
    return matrix(np.zeros(3), np.array([-middle[0], -middle[1], distance_m]))


def turned(board: Board, pose: Matrix, rotation_rad: np.ndarray) -> Matrix:
    """The pose turned about the board's middle."""
    middle = matrix(np.zeros(3), np.array([board.columns * board.square_m / 2, board.rows * board.square_m / 2, 0.0]))
    back = matrix(np.zeros(3), -middle[:3, 3])
    return pose @ middle @ matrix(rotation_rad, np.zeros(3)) @ back


def twelve_poses(board: Board) -> list[Matrix]:
    """Tilted to all sides, nearer and farther."""
    rng = np.random.default_rng(1)
    return [
        turned(board, facing(board, 0.28 + 0.02 * i), np.array([0.5, 0.5, 0.4]) * rng.uniform(-1, 1, 3))
        for i in range(12)
    ]
