"""Whether a station is still as it was calibrated: a few new views against the stored numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.board import Board
from calibration.cell import hand_pose
from calibration.detection import LEAST_CORNERS
from calibration.measure import lens_of
from calibration.pose import board_pose
from calibration.rigid import Matrix, difference, inverse, matrix
from calibration.views import View
from contract.calibration import Calibration, Mount
from contract.errors import ConfigurationError
from contract.layout import ARMS, joints_of

MOVED_MM: Final = 4.0
TURNED_DEG: Final = 0.5
BLURRED_PX: Final = 1.0
BASES_MM: Final = 6.0
BASES_DEG: Final = 0.7
"""Two cameras' errors are in it."""
LEAST_VIEWS: Final = 3
_LENS: Final = "the lens is not as calibrated, or the board is bent: run yam-calibrate intrinsics"


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """One camera. `what` is empty while all is well."""

    role: str
    reprojection_px: float
    scatter_mm: float
    """Of the board's place, which the stored numbers must find the same from every pose."""
    scatter_deg: float
    what: str
    still: Matrix | None = None
    """The board in the base, or in the hand; None when no pose of it fits."""

    def said(self) -> str:
        """A line for people."""
        return (
            f"{self.role}: {self.reprojection_px:.2f} px, board within {self.scatter_mm:.2f} mm and "
            f"{self.scatter_deg:.2f} degrees: {self.what or 'as calibrated'}"
        )


def board_fault(stored: Calibration, board: Board) -> str:
    """Why the calibration is not of this board (case B48); empty = it is, or it says nothing."""
    if stored.board is None:
        return ""
    now = board.model_dump()
    other = [f"{key} {old} then, {now[key]} now" for key, old in stored.board.model_dump().items() if now[key] != old]
    return f"the calibration was made with another board: {', '.join(other)}" if other else ""


def require_stored(stored: Calibration, role: str) -> None:
    """Raises `ConfigurationError` when there is nothing to compare a camera with."""
    lacks = [name for name in ("intrinsics", "mounts") if role not in getattr(stored, name)]
    if lacks:
        raise ConfigurationError(
            f"check of {role}", expected="intrinsics and mount in the station", got=f"no {' and no '.join(lacks)}",
            remedy="run yam-calibrate intrinsics and hand-eye, or leave the camera out of --roles",
        )  # fmt: skip


def drift_of(stored: Calibration, board: Board, role: str, views: Sequence[View]) -> Drift:
    """Of one camera and one arm. Raises `ConfigurationError` when nothing is stored of it, or for too few views."""
    require_stored(stored, role)
    usable = [view for view in views if len(view.sighting.ids) >= LEAST_CORNERS]
    if len(usable) < LEAST_VIEWS:
        raise ConfigurationError(
            f"check of {role}", expected=f"{LEAST_VIEWS} views or more", got=len(usable), remedy="give more --views"
        )
    x = _transform(stored.mounts[role])
    in_hand = stored.mounts[role].parent.endswith("gripper")
    stills, errors = [], []
    for view in usable:
        camera = lens_of(stored.intrinsics[role]).scaled(*view.size)
        try:
            pose, error = board_pose(board, camera, view.sighting)
        except ConfigurationError:  # no pose of the board fits at all: that is a finding, not a fault of the call
            return Drift(role, float("nan"), float("nan"), float("nan"), _LENS)
        hand = hand_pose(joints_of(view.joints, view.arm))
        stills.append((hand if in_hand else inverse(hand)) @ x @ pose)
        errors.append(error)
    apart = np.array([difference(stills[0], still) for still in stills[1:]])
    mm, deg = 1e3 * float(apart[:, 0].max()), float(np.degrees(apart[:, 1].max()))
    rms_px = float(np.sqrt(np.mean(np.square(errors))))
    return Drift(role, rms_px, mm, deg, _what(float(np.max(errors)), mm, deg), stills[0])


def bases_fault(stored: Calibration, found: Mapping[str, Drift]) -> str:
    """Whether the arms stand to each other as stored, by one board on the table that both wrist cameras saw.

    Empty when they do, or when it cannot be said.
    """
    left, right = (found.get(f"{arm}_wrist") for arm in ARMS)
    if stored.right_base is None or left is None or right is None or left.still is None or right.still is None:
        return ""
    metres, radians = difference(_transform(stored.right_base), left.still @ inverse(right.still))
    if 1e3 * metres <= BASES_MM and np.degrees(radians) <= BASES_DEG:
        return ""
    return (
        f"bases: {1e3 * metres:.1f} mm and {np.degrees(radians):.2f} degrees from where they were: an arm or joint 1's "
        "zero has moved (or the board, between the two arms): run yam-calibrate arms, then hand-eye"
    )


def _transform(mount: Mount) -> Matrix:
    return matrix(np.array(mount.rotation_rad), np.array(mount.position_m))


def _what(pixels: float, mm: float, deg: float) -> str:
    if pixels > BLURRED_PX:
        return _LENS
    if mm > MOVED_MM or deg > TURNED_DEG:
        return "the camera, or a joint's zero, has moved: run yam-calibrate arms, then hand-eye"
    return ""
