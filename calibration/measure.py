"""One routine each: measure, draw, and give the changes to the station's `[calibration]` section."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from calibration import plots
from calibration.arm_check import Travel, directions, gripper_travel, sides, zeros
from calibration.board import Board
from calibration.camera import Camera
from calibration.date import today
from calibration.eyes import Eye, bases, place
from calibration.gripper_range import checked_range, raw_ends, remark
from calibration.hand_eye import Mounting
from calibration.intrinsics import Intrinsics, calibrate
from calibration.rigid import Matrix, vector
from calibration.session import Session
from calibration.views import View
from contract.calibration import Intrinsics as Stored
from contract.errors import ConfigurationError
from contract.layout import ARMS, Arm, joints_of

Changes = dict[str, Any]


def lens_of(stored: Stored) -> Camera:
    """The camera that routines work with."""
    return Camera(**{name: getattr(stored, name) for name in Camera.model_fields})


def intrinsics(board: Board, role: str, views: Sequence[View], pictures: Path) -> tuple[Changes, list[str]]:
    """Lens of one camera, and lines for people."""
    sizes = {view.size for view in views}
    if len(sizes) != 1:
        raise ConfigurationError(f"pictures of {role}", expected="one resolution", got=sorted(sizes))
    found = calibrate(board, [view.sighting for view in views], *sizes.pop())
    plots.plot_intrinsics(pictures / f"intrinsics_{role}.png", role, found)
    entry = {
        **found.camera.model_dump(), "distortion": list(found.camera.distortion), "method": _charuco(board),
        "date": today(), "views": len(views), "rms_px": found.rms_px, "held_out_px": found.held_out_px,
        "covered": found.covered,
    }  # fmt: skip
    return {"board": board.model_dump(), "intrinsics": {role: entry}}, _said(role, found)


def _charuco(board: Board) -> str:
    return f"ChArUco {board.columns}x{board.rows} {board.layout}, every fifth view held out"


def _said(role: str, found: Intrinsics) -> list[str]:
    k = found.camera
    return [
        f"{role}: fx {k.fx:.2f} fy {k.fy:.2f} cx {k.cx:.2f} cy {k.cy:.2f} at {k.width}x{k.height}",
        f"{role}: RMS {found.rms_px:.3f} px fitted, {found.held_out_px:.3f} px held out",
    ]


def mounts(
    board: Board, lenses: dict[str, Camera], views: Sequence[View], pictures: Path
) -> tuple[Changes, list[str], dict[tuple[str, Arm], Eye]]:
    """Wrist cameras on their hands, other cameras at the left base, and the right base where both arms were seen."""
    eyes: dict[tuple[str, Arm], Eye] = {}
    lines = []
    require_lenses(lenses, [view.role for view in views])
    for role, arm in sorted({(view.role, view.arm) for view in views}):
        mounting: Mounting = "eye_in_hand" if role == f"{arm}_wrist" else "eye_to_hand"
        own = [view for view in views if (view.role, view.arm) == (role, arm)]
        eye = eyes[role, arm] = place(board, lenses[role], own, mounting)
        plots.plot_eye(pictures / f"hand_eye_{role}_{arm}.png", f"{role}, {arm} arm", eye)
        lines.append(
            f"{role}, {arm} arm: held-out {1e3 * eye.held_out_m:.2f} mm {np.degrees(eye.held_out_rad):.3f} degrees, "
            f"condition {eye.result.condition:.2f}"
        )
    changes: Changes = {"board": board.model_dump(), "mounts": {}}
    for (role, arm), eye in eyes.items():
        if role == f"{arm}_wrist":
            changes["mounts"][role] = _mount(eye.result.x, f"{arm}_gripper", "eye in hand, board on the table", eye)
        elif arm == "left":
            changes["mounts"][role] = _mount(eye.result.x, "left_base", "eye to hand, board in the left hand", eye)
    if ("left_wrist", "left") in eyes:
        changes["table"] = _table(eyes["left_wrist", "left"])
    for role in {role for role, _ in eyes}:
        if (role, "left") in eyes and (role, "right") in eyes:
            left, right = eyes[role, "left"], eyes[role, "right"]
            worse = max(left, right, key=lambda eye: eye.held_out_m)
            changes["right_base"] = _mount(
                bases(left, right), "left_base", f"board in either hand seen by {role}", worse
            )
            lines.append(f"right base in the left base: {np.round(bases(left, right)[:3, 3], 4).tolist()} m")
    return changes, lines, eyes


def _table(eye: Eye) -> Changes:
    """The board's plane; its z points into what it lies on."""
    up = -eye.result.board[:3, 2]
    return {
        "normal": [float(value) for value in up], "offset_m": float(up @ eye.result.board[:3, 3]),
        "method": "board on the table seen by left_wrist", "date": today(), "held_out_mm": 1e3 * eye.held_out_m,
    }  # fmt: skip


def require_lenses(lenses: Mapping[str, Camera], roles: Sequence[str]) -> None:
    """Before arms move for nothing. Raises `ConfigurationError` naming cameras whose lens is not known."""
    missing = sorted(set(roles) - set(lenses))
    if missing:
        raise ConfigurationError(
            f"intrinsics of {', '.join(missing)}", expected="in the station", got="none",
            remedy="run yam-calibrate intrinsics",
        )  # fmt: skip


def _mount(transform: Matrix, parent: str, method: str, eye: Eye) -> Changes:
    turn_and_move = [float(value) for value in vector(transform)]
    return {
        "parent": parent, "rotation_rad": turn_and_move[:3], "position_m": turn_and_move[3:], "method": method,
        "date": today(), "poses": eye.poses, "held_out_mm": 1e3 * eye.held_out_m,
        "held_out_deg": float(np.degrees(eye.held_out_rad)),
    }  # fmt: skip


def arms(session: Session, pictures: Path, say: Callable[[str], None]) -> tuple[Changes, list[str]]:
    """Directions, sides, gripper travel and zeros of both arms. The arms are brought to the station's park pose."""
    cell, entries = session.cell, {}
    park = session.station.poses.park.vector()
    cell.go(session.station.poses.home.vector())
    sides(cell)
    say("left and right are not exchanged: each wrist camera moves with its own arm")
    offsets = {}
    for arm in ARMS:
        turned = directions(cell, arm)
        travel = gripper_travel(cell, arm)
        say(f"{arm}: joints turn as told, gripper moves through {travel.share:.0%} of its range")
        entries[arm] = {"directions": list(turned), "gripper_travel": travel.share, **_raw(session, arm, travel, say)}
    cell.go(park)
    for arm in ARMS:
        offsets[arm] = zeros(arm, joints_of(cell.joints().positions, arm), joints_of(park, arm))
        method = "wiggle of every joint; zeros at the park pose, as told"
        entries[arm] |= {"zero_rad": [float(q) for q in offsets[arm]], "method": method, "date": today()}
    plots.plot_zeros(pictures / "zeros.png", offsets)
    return {"arms": entries}, [f"{arm} zeros: {np.round(q, 4).tolist()} rad" for arm, q in offsets.items()]


def _raw(session: Session, arm: Arm, travel: Travel, say: Callable[[str], None]) -> Changes:
    """The gripper's travel in its motor's own measure, where there is a motor (case B25)."""
    arms = session.station.arms
    if arms is None:
        return {}
    unit = arms.left if arm == "left" else arms.right
    ends = checked_range(arm, unit, raw_ends(unit, travel))
    if word := remark(arm, unit, ends):
        say(word)
    return {"gripper_closed_open_rad": [float(one) for one in ends]}
