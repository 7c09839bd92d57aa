"""What safety is told of a station's space, from what was measured: how the bases stand, where the table is, and where
the tools work. A program proposes; a person writes it into the station file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.rigid import Matrix, inverse, matrix
from calibration.toml_lines import Changes
from calibration.zero_references import base_of, standing
from contract.calibration import Calibration
from contract.errors import ConfigurationError
from contract.layout import ARMS, Arm, joints_of
from contract.space import Space
from contract.station import Station
from robot_client.episodes.course import course_of
from robot_client.episodes.formats.choose import episodes_at
from robot_client.safety.kinematics import link_frames, tool_centre

MOST_TILT_RAD: Final = 0.02
"""A base that leans more: safety knows upright bases alone. Over an arm's reach of 0.7 m this is 14 mm."""
_MM: Final = 4
_MICRO: Final = 6
_RIGHT: Final = ("safety", "space", "right")
_TABLE: Final = ("safety", "space", "table")
_BOX: Final = ("safety", "space", "box")


@dataclass(frozen=True, slots=True)
class Proposal:
    """New values for a station file, and the old ones beside them in words."""

    changes: Changes
    lines: tuple[str, ...]


def proposed(
    station: Station, thickness_m: float = 0.0, reached: NDArray[np.float64] | None = None, margin_m: float = 0.05
) -> Proposal:
    """From the station's calibration; `reached` (n, 14) are joints of motions whose places belong to the workspace.

    `thickness_m` is the board's, which lay between camera and table. Raises `ConfigurationError` for what was not
    measured, a station without [safety.space], and a base that leans.
    """
    stored, space = station.calibration, station.safety.space
    if space is None:
        raise ConfigurationError(
            "[safety.space]", expected="in the station file", got="none", remedy="copy it from yam_example.toml"
        )
    if not 0.0 <= thickness_m <= 0.05 or not 0.0 <= margin_m <= 0.3:
        raise ConfigurationError(
            "--thickness-m, --margin-m", expected="0 to 0.05 and 0 to 0.3", got=f"{thickness_m:g} and {margin_m:g}"
        )
    changes: dict[tuple[str, ...], dict[str, float | Sequence[float]]] = {}
    bases = {arm: base_of(space, arm) for arm in ARMS}
    if stored is not None and stored.right_base is not None:
        found = matrix(np.array(stored.right_base.rotation_rad), np.array(stored.right_base.position_m))
        bases["right"] = bases["left"] @ found
        changes[_RIGHT] = _base(bases["right"], bases["left"])
    if stored is not None and stored.table is not None:
        changes[_TABLE] = _table(stored, bases["left"], thickness_m)
    named = {name: getattr(station.poses, name).vector() for name in ("home", "park")}
    if reached is not None:
        # Arms that could not go home or park any more would be of no use.
        changes[_BOX] = _box(np.concatenate([reached, list(named.values())]), bases, margin_m)
    if not changes:
        raise ConfigurationError(
            "workspace", expected="something measured", got="neither bases nor table in [calibration], no --episodes",
            remedy="run yam-calibrate hand-eye first",
        )  # fmt: skip
    lines = [*_said(space, changes), *_doubts(station, space), *_refused(named, bases, space, changes)]
    return Proposal(changes, tuple(lines))


def reached_in(folders: Sequence[Path]) -> NDArray[np.float64]:
    """(n, 14) what the arms were told in recorded episodes. Raises `EpisodeError` when they cannot be read."""
    return np.concatenate([course_of(source.path).values for folder in folders for source in episodes_at(folder)])


def _base(right: Matrix, left: Matrix) -> dict[str, float | Sequence[float]]:
    lean = float(np.arccos(np.clip((inverse(left) @ right)[2, 2], -1.0, 1.0)))
    if lean > MOST_TILT_RAD:
        raise ConfigurationError(
            "right base", expected=f"upright within {MOST_TILT_RAD:g} rad of the left one", got=f"{lean:.3f} rad",
            remedy="mount it upright, or calibrate again; safety knows upright bases alone",
        )  # fmt: skip
    yaw = round(float(np.arctan2(right[1, 0], right[0, 0])), _MICRO)
    return {"position_m": [round(float(value), _MM) for value in right[:3, 3]], "yaw_rad": yaw}


def _table(stored: Calibration, left: Matrix, thickness_m: float) -> dict[str, float | Sequence[float]]:
    if stored.table is None:
        return {}
    normal = left[:3, :3] @ np.array(stored.table.normal)
    normal = np.round(normal / np.linalg.norm(normal), _MICRO)
    offset = stored.table.offset_m - thickness_m + float(normal @ left[:3, 3])
    return {"normal": [float(value) for value in normal], "offset_m": round(offset, _MM)}


def _box(reached: NDArray[np.float64], bases: dict[Arm, Matrix], margin_m: float) -> dict[str, float | Sequence[float]]:
    every = np.concatenate([_tools(reached, arm, bases) for arm in ARMS])
    low, high = every.min(0) - margin_m, every.max(0) + margin_m
    return {"lower_m": [round(float(v), 3) for v in low], "upper_m": [round(float(v), 3) for v in high]}


def _tools(joints: NDArray[np.float64], arm: Arm, bases: dict[Arm, Matrix]) -> NDArray[np.float64]:
    """(n, 3) tool centres [m] in the station's frame, of joints (n, 14)."""
    tools = tool_centre(*link_frames(np.array([joints_of(row, arm) for row in joints], np.float64)))
    return tools @ bases[arm][:3, :3].T + bases[arm][:3, 3]


def _refused(
    named: dict[str, NDArray[np.float64]], bases: dict[Arm, Matrix], space: Space, changes: Changes
) -> list[str]:
    """Poses of the station that safety would not let an arm into with the new numbers."""
    table = space.table.model_copy(update=dict(changes.get(_TABLE, {})))
    box = space.box.model_copy(update=dict(changes.get(_BOX, {})))
    lines = []
    for name, pose in named.items():
        for arm in ARMS:
            tool = _tools(pose[np.newaxis], arm, bases)[0]
            short_m = table.offset_m + table.tool_m - float(np.dot(table.normal, tool))
            if short_m > 0.0 or (tool < box.lower_m).any() or (tool > box.upper_m).any():
                where = f"{1e3 * short_m:.0f} mm too near to the table" if short_m > 0.0 else "outside the box"
                lines.append(f"WARNING: at pose {name} the {arm} tool would be {where}; safety would not let it there")
    return lines


def _said(space: Space, changes: Changes) -> list[str]:
    lines = []
    for table, values in changes.items():
        section = getattr(space, table[-1])
        for key, new in values.items():
            old = getattr(section, key)
            same = np.allclose(np.asarray(old, float), np.asarray(new, float))
            lines.append(f"[{'.'.join(table)}] {key}: {_short(old)} -> {_short(new)}{'  (as it is)' if same else ''}")
    return lines


def _doubts(station: Station, space: Space) -> list[str]:
    stored, lines = station.calibration, []
    if stored is None:
        return []
    for arm in ARMS:
        zero = stored.zeros[arm].joints.get("joint1") if arm in stored.zeros else None
        if zero is not None and abs(zero.offset_rad) > max(0.01, 3.0 * zero.uncertainty_rad):
            lines.append(
                f"WARNING: joint1 of the {arm} arm reads {zero.offset_rad:+.3f} rad too much against the base's place "
                "in the file as it is. Set its zero first, or be sure that the file is what was wrong"
            )
    if stored.right_base is not None:
        metres = float(np.linalg.norm(np.array(stored.right_base.position_m) - standing(space)[:3, 3]))
        if metres > 0.05:
            lines.append(f"WARNING: the right base is {1e3 * metres:.0f} mm from where the file has it")
    return lines


def _short(value: float | Sequence[float]) -> str:
    return f"{value:g}" if isinstance(value, int | float) else f"[{', '.join(f'{one:g}' for one in value)}]"
