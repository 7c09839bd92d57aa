"""Finding a board in a picture, and saying what is wrong when its markers are seen and its corners are not (B48)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.board import Board
from contract.errors import ConfigurationError

LEAST_CORNERS: Final = 6
"""Fewer give no pose worth having."""
LEAST_MARKERS: Final = 6
"""Fewer markers are a glimpse of a board and say nothing either way."""
WORST_HOMOGRAPHY_PX: Final = 4.0
"""A flat board under a perspective camera is a homography; ids that are mixed up are not, whatever the lens."""


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """Corners of a board in one picture."""

    ids: NDArray[np.int64]
    """(n,) corner ids."""
    pixels: NDArray[np.float64]
    """(n, 2) x, y."""
    markers: int
    """Markers found."""


class AnotherBoardError(ConfigurationError):
    """Markers are there, and the board as described is not."""

    code = "another_board"


def find(board: Board, picture: NDArray[np.uint8]) -> Sighting:
    """Corners of the board in an RGB or grey picture, none if it is not there.

    Raises `AnotherBoardError` when markers are seen but the board as described is not: with what to try.
    """
    sighting = _look(board, picture)
    if _on_a_line(board, sighting):
        # One row of corners fits any plane through it: nothing is known of the board, for it or against it.
        return Sighting(np.zeros(0, np.int64), np.zeros((0, 2)), sighting.markers)
    if sighting.markers >= LEAST_MARKERS and not _is_plausible(board, sighting):
        raise AnotherBoardError(
            "board",
            expected=f"the corners of a {board.columns} x {board.rows} board, layout {board.layout}",
            got=f"markers {sighting.markers}, corners {len(sighting.ids)} that fit no such board",
            remedy=_advice(board, picture),
        )
    return sighting


def _look(board: Board, picture: NDArray[np.uint8]) -> Sighting:
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    detector = cv2.aruco.CharucoDetector(board.opencv(), detectorParams=parameters)
    corners, ids, marker_corners, _ = detector.detectBoard(np.ascontiguousarray(grey))
    markers = len(marker_corners) if marker_corners is not None else 0
    if ids is None or corners is None:
        return Sighting(np.zeros(0, np.int64), np.zeros((0, 2)), markers)
    return Sighting(np.asarray(ids, np.int64).reshape(-1), np.asarray(corners, np.float64).reshape(-1, 2), markers)


def _on_a_line(board: Board, sighting: Sighting) -> bool:
    if len(sighting.ids) < 2:
        return False
    plane = board.points_m()[sighting.ids, :2]
    return float(np.linalg.svd(plane - plane.mean(0), compute_uv=False)[1]) < 1e-9


def _is_plausible(board: Board, sighting: Sighting) -> bool:
    """Enough corners for the markers seen, and all on one plane in perspective."""
    return 2 * len(sighting.ids) >= sighting.markers and misfit_px(board, sighting) < WORST_HOMOGRAPHY_PX


def misfit_px(board: Board, sighting: Sighting) -> float:
    """RMS distance of the corners from the best homography of the board plane; 0 for fewer than five."""
    if len(sighting.ids) < 5:
        return 0.0
    plane = board.points_m()[sighting.ids, :2]
    homography, _ = cv2.findHomography(plane, sighting.pixels, 0)
    if homography is None:
        return float("inf")
    mapped = cv2.perspectiveTransform(plane[:, np.newaxis], homography)[:, 0]
    return float(np.sqrt(np.mean(np.sum((mapped - sighting.pixels) ** 2, axis=1))))


def _advice(board: Board, picture: NDArray[np.uint8]) -> str:
    """The change that makes the board appear, found by trying."""
    other = "legacy" if board.layout == "standard" else "standard"
    trials = (
        (f"try layout {other}", {"layout": other}),
        ("exchange columns and rows", {"columns": board.rows, "rows": board.columns}),
        (
            f"exchange columns and rows, and try layout {other}",
            {"columns": board.rows, "rows": board.columns, "layout": other},
        ),
    )
    for words, changes in trials:
        variant = board.variant(**changes)
        seen = _look(variant, picture)
        if len(seen.ids) >= LEAST_CORNERS and misfit_px(variant, seen) < WORST_HOMOGRAPHY_PX:
            return words
    return "check columns, rows, dictionary and the ratio of marker to square on the print"
