"""Whether a station is still as it was calibrated: a few new views against the stored numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.board import Board
from calibration.cell import hand_pose
from calibration.measure import lens_of
from calibration.pose import board_pose
from calibration.rigid import difference, inverse, matrix
from calibration.views import View
from contract.calibration import Calibration
from contract.errors import ConfigurationError
from contract.layout import joints_of

MOVED_MM: Final = 4.0
TURNED_DEG: Final = 0.5
BLURRED_PX: Final = 1.0
LEAST_VIEWS: Final = 3


@dataclass(frozen=True, slots=True)
class Drift:
    """One camera. `what` is empty while all is well."""

    role: str
    reprojection_px: float
    scatter_mm: float
    """Of the board's place, which the stored numbers must find the same from every pose."""
    scatter_deg: float
    what: str


def board_fault(stored: Calibration, board: Board) -> str:
    """Why the calibration is not of this board (case B48); empty = it is, or it says nothing."""
    if stored.board is None:
        return ""
    now = board.model_dump()
    other = [f"{key} {old} then, {now[key]} now" for key, old in stored.board.model_dump().items() if now[key] != old]
    return f"the calibration was made with another board: {', '.join(other)}" if other else ""


def drift_of(stored: Calibration, board: Board, role: str, views: Sequence[View]) -> Drift:
    """Of one camera and one arm. Raises `ConfigurationError` when nothing is stored of it, or for too few views."""
    if role not in stored.intrinsics or role not in stored.mounts or len(views) < LEAST_VIEWS:
        raise ConfigurationError(
            f"check of {role}", expected=f"intrinsics and mount in the station, {LEAST_VIEWS} views",
            got=f"{len(views)} views", remedy="run yam-calibrate intrinsics and hand-eye first",
        )  # fmt: skip
    camera, mount = lens_of(stored.intrinsics[role]), stored.mounts[role]
    x = matrix(np.array(mount.rotation_rad), np.array(mount.position_m))
    stills, errors = [], []
    for view in views:
        pose, error = board_pose(board, camera.scaled(*view.size), view.sighting)
        hand = hand_pose(joints_of(view.joints, view.arm))
        stills.append((hand if mount.parent.endswith("gripper") else inverse(hand)) @ x @ pose)
        errors.append(error)
    apart = np.array([difference(stills[0], still) for still in stills[1:]])
    mm, deg = 1e3 * float(apart[:, 0].max()), float(np.degrees(apart[:, 1].max()))
    return Drift(role, float(np.sqrt(np.mean(np.square(errors)))), mm, deg, _what(float(np.max(errors)), mm, deg))


def _what(pixels: float, mm: float, deg: float) -> str:
    if pixels > BLURRED_PX:
        return "the lens is not as calibrated, or the board is bent: run yam-calibrate intrinsics"
    if mm > MOVED_MM or deg > TURNED_DEG:
        return "the camera, or a joint's zero, has moved: run yam-calibrate arms, then hand-eye"
    return ""
