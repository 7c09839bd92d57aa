"""Intrinsics of a camera from views of a board, with an error measured on views that took no part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.board import Board
from calibration.camera import Camera
from calibration.coverage import coverage, covered
from calibration.detection import LEAST_CORNERS, Sighting
from calibration.pose import board_pose
from calibration.rigid import Matrix, matrix
from contract.errors import ConfigurationError

LEAST_VIEWS: Final = 12
LEAST_COVERED: Final = 0.6
LEAST_TILT_DEG: Final = 15.0
"""Spread of the board's normal: boards that always face the camera cannot tell distance from focal length."""
SAME_VIEW_PX: Final = 3.0
"""Two views whose common corners moved less than this are one view."""
WORST_HELD_OUT_PX: Final = 1.0
_HELD_OUT_EVERY: Final = 5
_UNTIL: Final = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 500, 1e-12)
"""OpenCV's own 30 steps end on the way: with wide lenses 2 % of the focal length from where the corners lead."""


@dataclass(frozen=True, slots=True, eq=False)
class Intrinsics:
    """A calibrated camera and how good it is."""

    camera: Camera
    rms_px: float
    """Of the views that were fitted."""
    held_out_px: float
    """RMS of the views that were not."""
    per_view_px: NDArray[np.float64]
    """(views,) RMS of each fitted view."""
    covered: float
    corners_px: NDArray[np.float64]
    """(n, 2) every corner of the fitted views."""
    errors_px: NDArray[np.float64]
    """(n, 2) seen less where the lens says."""


def calibrate(board: Board, sightings: Sequence[Sighting], width: int, height: int) -> Intrinsics:
    """The camera. Every fifth view is held out. Raises `ConfigurationError` naming what the views lack."""
    usable = distinct([one for one in sightings if len(one.ids) >= 2 * LEAST_CORNERS])
    _require_views(usable, len(sightings), width, height)
    kept = [one for i, one in enumerate(usable) if i % _HELD_OUT_EVERY]
    rest = [one for i, one in enumerate(usable) if not i % _HELD_OUT_EVERY]
    camera, poses, rms = _fit(board, kept, width, height)
    _require_tilt(poses)
    errors = np.array([_error(board, camera, pose, one) for pose, one in zip(poses, kept, strict=True)])
    held_out = np.sqrt(np.mean([board_pose(board, camera, one)[1] ** 2 for one in rest]))
    if not held_out < WORST_HELD_OUT_PX:
        raise ConfigurationError(
            "intrinsics", expected=f"held-out views within {WORST_HELD_OUT_PX:g} px", got=f"{held_out:.2f} px",
            remedy="check that the board is flat and its file right, the lens in focus and the views not blurred",
        )  # fmt: skip
    share = covered(coverage(usable, width, height))
    apart = [one.pixels - _said(board, camera, pose, one) for pose, one in zip(poses, kept, strict=True)]
    corners = np.concatenate([one.pixels for one in kept])
    return Intrinsics(camera, rms, float(held_out), errors, share, corners, np.concatenate(apart))


def distinct(sightings: Sequence[Sighting]) -> list[Sighting]:
    """Without the views that repeat an earlier one."""
    kept: list[Sighting] = []
    for one in sightings:
        if all(_moved_px(one, other) > SAME_VIEW_PX for other in kept):
            kept.append(one)
    return kept


def _moved_px(a: Sighting, b: Sighting) -> float:
    common, i, j = np.intersect1d(a.ids, b.ids, return_indices=True)
    if len(common) == 0:
        return float("inf")
    return float(np.median(np.linalg.norm(a.pixels[i] - b.pixels[j], axis=1)))


def _require_views(usable: list[Sighting], given: int, width: int, height: int) -> None:
    if len(usable) < LEAST_VIEWS:
        raise ConfigurationError(
            "views", expected=f"{LEAST_VIEWS} different ones with {2 * LEAST_CORNERS} corners or more",
            got=f"{len(usable)} of {given}", remedy="move the board between pictures",
        )  # fmt: skip
    share = covered(coverage(usable, width, height))
    if share < LEAST_COVERED:
        raise ConfigurationError(
            "views", expected=f"the board in {LEAST_COVERED:.0%} of the picture", got=f"{share:.0%}",
            remedy="bring it into the corners too",
        )  # fmt: skip


def _fit(board: Board, views: list[Sighting], width: int, height: int) -> tuple[Camera, list[Matrix], float]:
    points = [board.points_m()[one.ids].astype(np.float32) for one in views]
    pixels = [one.pixels.astype(np.float32) for one in views]
    start = np.array([[width, 0, (width - 1) / 2], [0, width, (height - 1) / 2], [0, 0, 1]], np.float64)
    rms, k, lens, turns, moves = cv2.calibrateCamera(
        points, pixels, (width, height), start, np.zeros(5), flags=cv2.CALIB_USE_INTRINSIC_GUESS, criteria=_UNTIL
    )
    lens = np.asarray(lens).reshape(-1)[:5]
    camera = Camera(
        width=width, height=height, fx=float(k[0, 0]), fy=float(k[1, 1]), cx=float(k[0, 2]), cy=float(k[1, 2]),
        distortion=tuple(float(value) for value in lens),  # type: ignore[arg-type]
    )  # fmt: skip
    poses = [matrix(np.asarray(t).reshape(3), np.asarray(m).reshape(3)) for t, m in zip(turns, moves, strict=True)]
    return camera, poses, float(rms)


def _require_tilt(poses: list[Matrix]) -> None:
    normals = np.array([pose[:3, 2] for pose in poses])
    mean = normals.mean(0) / np.linalg.norm(normals.mean(0))
    tilt = float(np.degrees(np.percentile(np.arccos(np.clip(normals @ mean, -1, 1)), 80)))
    if tilt < LEAST_TILT_DEG:
        raise ConfigurationError(
            "views", expected=f"the board tilted by {LEAST_TILT_DEG:.0f} degrees and more", got=f"{tilt:.0f} degrees",
            remedy="tilt the board to all sides; views that face the camera cannot tell distance from focal length",
        )  # fmt: skip


def _error(board: Board, camera: Camera, pose: Matrix, sighting: Sighting) -> float:
    apart = sighting.pixels - _said(board, camera, pose, sighting)
    return float(np.sqrt(np.mean(np.sum(apart**2, axis=1))))


def _said(board: Board, camera: Camera, pose: Matrix, sighting: Sighting) -> NDArray[np.float64]:
    return camera.project(pose, board.points_m()[sighting.ids])
