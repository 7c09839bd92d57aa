"""Zeros of both arms from views of a board by all cameras that saw it, and what they are seen against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration import plots
from calibration.board import Board
from calibration.camera import Camera
from calibration.date import today
from calibration.measure import require_lenses
from calibration.pose import board_pose
from calibration.views import View
from calibration.zero_references import Bases, Zero, by_bases, by_jaws
from calibration.zeros import Fitted, Seen, fit
from contract.layout import ARMS, Arm, joints_of
from contract.space import Space

STILL: Final = "one still board"
_STATION_M: Final = 0.01
"""Bases nearer or farther apart than this: the station file and the station differ."""

Found = dict[Arm, dict[int, Zero]]
"""Arm -> joint 1 to 6 -> its zero; joints that could not be seen are not there."""


def found_zeros(
    board: Board, lenses: Mapping[str, Camera], views: Sequence[View], space: Space | None
) -> tuple[Found, float]:
    """Zeros, and by how much [m] the bases are farther apart than in the station file (0: not looked at).

    Raises `ConfigurationError` as `zeros.fit` does, and when the lens of a camera is not known.
    """
    require_lenses(lenses, [view.role for view in views])
    fitted = {arm: fit(seen) for arm in ARMS if (seen := _seen(board, lenses, views, arm))}
    found: Found = {arm: _own(one) for arm, one in fitted.items()}
    bases = _bases(fitted)
    if bases is None or space is None:
        return found, 0.0
    firsts, farther_m = by_bases(bases, space)
    for arm, zero in firsts.items():
        found[arm][1] = zero
    return found, farther_m


def zeros_of(
    board: Board, lenses: Mapping[str, Camera], views: Sequence[View], space: Space | None, pictures: Path
) -> tuple[dict[str, Any], list[str]]:
    """Changes to the station's section, and lines for people."""
    found, farther_m = found_zeros(board, lenses, views, space)
    plots.plot_zeros_seen(pictures / "zeros_seen.png", found)
    entries = {arm: _entry(zeros) for arm, zeros in found.items()}
    lines = [line for arm, zeros in found.items() for line in said(arm, zeros)]
    if abs(farther_m) > _STATION_M:
        lines.append(
            f"WARNING bases: {1e3 * farther_m:+.0f} mm farther apart than [safety.space] says: measure how they stand; "
            "until then the zeros of joint 1 say little"
        )
    return {"zeros": entries}, lines


def said(arm: Arm, zeros: Mapping[int, Zero]) -> list[str]:
    """For people: every joint, those that are off, and those that could not be seen."""
    numbers = ", ".join(
        f"{joint} {zero.offset_rad:+.4f} +- {zero.uncertainty_rad:.4f}" for joint, zero in sorted(zeros.items())
    )
    lines = [f"{arm} arm: zeros of joints are off by {numbers} rad"]
    lines += [
        f"WARNING {arm} arm: joint{joint} reads {zero.offset_rad:+.3f} rad too much, seen against {zero.against}; set "
        "its zero anew, then calibrate again"
        for joint, zero in sorted(zeros.items()) if zero.suspect
    ]  # fmt: skip
    if 1 not in zeros:
        lines.append(f"{arm} arm: joint1 not seen; it needs both arms' views and [safety.space]")
    if 6 not in zeros:
        lines.append(
            f"{arm} arm: joint6 not seen; it needs the board clamped flat between the jaws, before the top camera"
        )
    return lines


def _seen(board: Board, lenses: Mapping[str, Camera], views: Sequence[View], arm: Arm) -> list[Seen]:
    groups = []
    for role in sorted({view.role for view in views if view.arm == arm}):
        own = [view for view in views if (view.role, view.arm) == (role, arm)]
        joints = np.array([joints_of(view.joints, arm) for view in own], np.float64)
        poses = [board_pose(board, lenses[role].scaled(*view.size), view.sighting)[0] for view in own]
        groups.append(Seen(role, "eye_in_hand" if role == f"{arm}_wrist" else "eye_to_hand", joints, np.array(poses)))
    return groups


def _own(fitted: Fitted) -> dict[int, Zero]:
    pairs = zip(fitted.offsets_rad, fitted.uncertainty_rad, strict=True)
    zeros = {2 + i: Zero(float(off), float(wide), STILL) for i, (off, wide) in enumerate(pairs)}
    for role in fitted.roles:
        if not role.endswith("_wrist") and (last := by_jaws(fitted, role)) is not None:
            zeros[6] = last
    return zeros


def _bases(fitted: Mapping[Arm, Fitted]) -> Bases | None:
    """By the board on the table where both wrists saw it, for it fills their pictures; else by another camera."""
    if set(fitted) != set(ARMS):
        return None
    left, right = fitted["left"], fitted["right"]
    if "left_wrist" in left.roles and "right_wrist" in right.roles:
        return Bases(left, right, "")
    common = sorted(set(left.roles) & set(right.roles))
    return Bases(left, right, common[0]) if common else None


def _entry(zeros: Mapping[int, Zero]) -> dict[str, Any]:
    joints = {
        f"joint{joint}": {"offset_rad": z.offset_rad, "uncertainty_rad": z.uncertainty_rad, "against": z.against}
        for joint, z in sorted(zeros.items())
    }
    return {"joints": joints, "method": "one board from many poses, all cameras of an arm at once", "date": today()}
