"""A board as a camera sees it, drawn with known truth: for rehearsals and tests, where no camera is."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.board import Board
from calibration.camera import Camera
from calibration.rigid import Matrix

SQUARE_PX: Final = 160
SUPERSAMPLING: Final = 2


def drawn_view(board: Board, camera: Camera, camera_from_board: Matrix, backdrop: int = 120) -> NDArray[np.uint8]:
    """(height, width, 3) uint8 RGB. The lens is honoured: every pixel looks up where its ray meets the board.

    Raises nothing; where the ray misses the board the picture is `backdrop`.
    """
    fine = camera.scaled(camera.width * SUPERSAMPLING, camera.height * SUPERSAMPLING)
    rows, columns = np.mgrid[0 : fine.height, 0 : fine.width]
    pixels = np.stack([columns, rows], -1).reshape(-1, 1, 2).astype(np.float64)
    rays = cv2.undistortPoints(pixels, fine.matrix(), fine.coefficients())[:, 0]
    # Plane z = 0 of the board: [x, y, 1] on it is H^-1 of the ray.
    plane = np.stack([camera_from_board[:3, 0], camera_from_board[:3, 1], camera_from_board[:3, 3]], 1)
    hits = np.concatenate([rays, np.ones((len(rays), 1))], 1) @ np.linalg.inv(plane).T
    with np.errstate(divide="ignore", invalid="ignore"):
        metres = hits[:, :2] / hits[:, 2:]
    texture = np.pad(board.picture(SQUARE_PX), SQUARE_PX // 2, constant_values=255)
    at = metres / board.square_m * SQUARE_PX + SQUARE_PX // 2 - 0.5
    at[(hits[:, 2] <= 0) | ~np.isfinite(at).all(1)] = -1e6
    picture = cv2.remap(
        texture,
        at[:, 0].reshape(fine.height, fine.width).astype(np.float32),
        at[:, 1].reshape(fine.height, fine.width).astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=float(backdrop),
    )
    small = cv2.resize(picture, (camera.width, camera.height), interpolation=cv2.INTER_AREA)
    return np.repeat(np.asarray(small, np.uint8)[..., np.newaxis], 3, axis=2)
