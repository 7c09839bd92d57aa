"""One routine each: measure, draw, and give the changes to the station's `[calibration]` section."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration import plots
from calibration.arm_check import directions, gripper_travel, sides, zeros
from calibration.board import Board
from calibration.camera import Camera
from calibration.cell import Cell
from calibration.eyes import Eye, bases, place
from calibration.hand_eye import Mounting
from calibration.intrinsics import Intrinsics, calibrate
from calibration.lag import Lag
from calibration.latency import arm_lag, camera_lag, gripper_lag, joints_lag
from calibration.pose import board_pose
from calibration.rigid import Matrix, vector
from calibration.session import Session
from calibration.views import View
from calibration.zeros import zeros_from_views
from contract.calibration import Intrinsics as Stored
from contract.errors import ConfigurationError
from contract.layout import ARMS, Arm, index, joints_of

Changes = dict[str, Any]
UNCERTAIN_MS: Final = 10.0
"""Wider intervals come from motion that stuck or a computer that stalled."""


def today() -> str:
    """Date as the section has it. For people; nothing is decided by it."""
    return datetime.date.today().isoformat()


def lens_of(stored: Stored) -> Camera:
    """The camera that routines work with."""
    return Camera(**{name: getattr(stored, name) for name in Camera.model_fields})


def intrinsics(board: Board, role: str, views: Sequence[View], pictures: Path) -> tuple[Changes, list[str]]:
    """Lens of one camera, and lines for people."""
    sizes = {view.size for view in views}
    if len(sizes) != 1:
        raise ConfigurationError(f"pictures of {role}", expected="one resolution", got=sorted(sizes))
    found = calibrate(board, [view.sighting for view in views], *sizes.pop())
    plots.plot_intrinsics(pictures / f"intrinsics_{role}.png", role, found, views)
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
    for role, arm in sorted({(view.role, view.arm) for view in views}):
        if role not in lenses:
            raise ConfigurationError(
                f"intrinsics of {role}", expected="in the station", got="none", remedy="run yam-calibrate intrinsics"
            )
        mounting: Mounting = "eye_in_hand" if role == f"{arm}_wrist" else "eye_to_hand"
        own = [view for view in views if (view.role, view.arm) == (role, arm)]
        eye = eyes[role, arm] = place(board, lenses[role], own, mounting)
        plots.plot_eye(pictures / f"hand_eye_{role}_{arm}.png", f"{role}, {arm} arm", eye)
        lines.append(
            f"{role}, {arm} arm: held-out {1e3 * eye.held_out_m:.2f} mm {np.degrees(eye.held_out_rad):.3f} degrees, "
            f"condition {eye.result.condition:.2f}"
        )
        lines += _zeros(board, lenses[role], own, eye, mounting)
    changes: Changes = {"board": board.model_dump(), "mounts": {}}
    for (role, arm), eye in eyes.items():
        if role == f"{arm}_wrist":
            changes["mounts"][role] = _mount(eye.result.x, f"{arm}_gripper", "eye in hand, board on the table", eye)
        elif arm == "left":
            changes["mounts"][role] = _mount(eye.result.x, "left_base", "eye to hand, board in the left hand", eye)
    for role in {role for role, _ in eyes}:
        if (role, "left") in eyes and (role, "right") in eyes:
            left, right = eyes[role, "left"], eyes[role, "right"]
            worse = max(left, right, key=lambda eye: eye.held_out_m)
            changes["right_base"] = _mount(
                bases(left, right), "left_base", f"board in either hand seen by {role}", worse
            )
            lines.append(f"right base in the left base: {np.round(bases(left, right)[:3, 3], 4).tolist()} m")
    return changes, lines, eyes


def _zeros(board: Board, lens: Camera, views: Sequence[View], eye: Eye, mounting: Mounting) -> list[str]:
    """What these views say of the arm's joints."""
    arm = views[0].arm
    joints = [joints_of(view.joints, view.arm) for view in views]
    poses = [board_pose(board, lens.scaled(*view.size), view.sighting)[0] for view in views]
    found = zeros_from_views(joints, poses, eye, mounting)
    suspects = [f"WARNING {arm} arm: {words}; set its zero anew, then hand-eye again" for words in found.suspects()]
    return [f"{arm} arm: zeros of joints 2 to 5 off by {np.round(found.offsets_rad, 4).tolist()} rad", *suspects]


def _mount(transform: Matrix, parent: str, method: str, eye: Eye) -> Changes:
    turn_and_move = [float(value) for value in vector(transform)]
    return {
        "parent": parent, "rotation_rad": turn_and_move[:3], "position_m": turn_and_move[3:], "method": method,
        "date": today(), "poses": eye.poses, "held_out_mm": 1e3 * eye.held_out_m,
        "held_out_deg": float(np.degrees(eye.held_out_rad)),
    }  # fmt: skip


def latencies(session: Session, pictures: Path, roles: Sequence[str], seconds: float) -> tuple[Changes, list[str]]:
    """Arms, grippers and cameras, each while one channel moves to and fro."""
    found: dict[str, dict[str, Lag]] = {"arms": {}, "grippers": {}, "joints": {}, "cameras": {}}
    cell = session.cell
    cell.go(session.station.poses.home.vector())  # arms that lie at rest are kept from moving by the table
    for arm in ARMS:
        for role in [role for role in roles if role == f"{arm}_wrist" or (role == "top" and arm == "left")]:
            plan = session.prepare(session.plan(role, arm, 1))
            cell.go(plan.start)
            found["cameras"][role] = camera_lag(cell, session.board, role, arm, seconds)
        found["arms"][arm] = arm_lag(cell, arm, seconds)
        found["joints"][arm] = joints_lag(cell, arm)
        _half_open(cell, arm)
        found["grippers"][arm] = gripper_lag(cell, arm, seconds)
    shown = {f"{kind} {name}": (1e3 * lag.seconds, 1e3 * lag.uncertainty_s) for kind, lags in found.items()
             for name, lag in lags.items()}  # fmt: skip
    plots.plot_latencies(pictures / "latencies.png", shown)
    lines = [
        f"{name}: {ms:.1f} ms +- {wide:.1f}{'  WARNING: not certain, measure again' if wide > UNCERTAIN_MS else ''}"
        for name, (ms, wide) in shown.items()
    ]
    entries = {kind: {name: _latency(lag, kind) for name, lag in lags.items()} for kind, lags in found.items()}
    return {"latencies": entries}, lines


def _half_open(cell: Cell, arm: Arm) -> None:
    pose = cell.joints().positions.copy()
    pose[index(f"{arm}_gripper")] = 0.5
    cell.go(pose)


def _latency(lag: Lag, kind: str) -> Changes:
    method = "age of new readings" if kind == "joints" else "correlation of one channel's motion"
    return {
        "latency_ms": max(1e3 * lag.seconds, 0.0), "uncertainty_ms": 1e3 * lag.uncertainty_s,
        "correlation": lag.correlation, "method": method, "date": today(),
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
        entries[arm] = {"directions": list(turned), "gripper_travel": travel.share}
    cell.go(park)
    for arm in ARMS:
        offsets[arm] = zeros(arm, joints_of(cell.joints().positions, arm), joints_of(park, arm))
        method = "wiggle of every joint; zeros at the park pose, as told"
        entries[arm] |= {"zero_rad": [float(q) for q in offsets[arm]], "method": method, "date": today()}
    plots.plot_zeros(pictures / "zeros.png", offsets)
    return {"arms": entries}, [f"{arm} zeros: {np.round(q, 4).tolist()} rad" for arm, q in offsets.items()]
