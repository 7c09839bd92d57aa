"""Where a board is, from its corners in one picture."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.board import Board
from calibration.camera import Camera
from calibration.detection import LEAST_CORNERS, Sighting
from calibration.rigid import Matrix, matrix
from contract.errors import ConfigurationError

WORST_REPROJECTION_PX = 2.0


def board_pose(board: Board, camera: Camera, sighting: Sighting) -> tuple[Matrix, float]:
    """camera_from_board, and the RMS reprojection error [px].

    Raises `ConfigurationError` for too few corners, and for a fit so bad that camera or board are not as described.
    """
    if len(sighting.ids) < LEAST_CORNERS:
        raise ConfigurationError(
            "board", expected=f"{LEAST_CORNERS} corners or more", got=len(sighting.ids), remedy="show more of it"
        )
    points = board.points_m()[sighting.ids]
    found, turned, moved = cv2.solvePnP(
        points, sighting.pixels, camera.matrix(), camera.coefficients(), flags=cv2.SOLVEPNP_IPPE
    )
    if found:
        turned, moved = cv2.solvePnPRefineLM(
            points, sighting.pixels, camera.matrix(), camera.coefficients(), turned, moved
        )
    pose = matrix(np.asarray(turned).reshape(3), np.asarray(moved).reshape(3))
    error = float(np.sqrt(np.mean(np.sum((camera.project(pose, points) - sighting.pixels) ** 2, axis=1))))
    if not found or not error < WORST_REPROJECTION_PX:
        raise ConfigurationError(
            "board pose",
            expected=f"corners within {WORST_REPROJECTION_PX:g} px of where camera and board say",
            got=f"{error:.1f} px",
            remedy="check the camera's intrinsics and resolution, and the board's file",
        )
    return pose, error
