"""Views: a picture of the board, and where the arms were. Also as a folder, so that a calibration can be done again.

The folder has `board.toml` (calibration/board.py), the pictures as PNG, and `views.jsonl`, one object a line:
    {"picture": "left_wrist_0003.png", "role": "left_wrist", "arm": "left", "joints": [14 numbers]}
`arm` is the one that carries the camera (wrist cameras) or the board (other cameras); joints in the contract's layout.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.board import Board
from calibration.detection import AnotherBoardError, Sighting, find
from contract.errors import ConfigurationError
from contract.layout import ARMS, SIZE, Arm

INDEX: Final = "views.jsonl"
_KEYS: Final = {"picture", "role", "arm", "joints"}


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What one camera saw while the arms stood."""

    role: str
    arm: Arm
    joints: NDArray[np.float64]
    """(14,) measured."""
    sighting: Sighting
    size: tuple[int, int]
    """Width and height of the picture."""


def save_view(folder: Path, role: str, arm: Arm, joints: NDArray[np.float64], image: NDArray[np.uint8]) -> Path:
    """Add a picture (H, W, 3) RGB and its joints (14,) to a folder; the picture's path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{role}_{arm}_{len(list(folder.glob(f'{role}_{arm}_*.png'))):04d}.png"
    if not cv2.imwrite(str(path), image[..., ::-1]):
        raise ConfigurationError(f"{path}", expected="a place to write to", got="refused", remedy="choose another one")
    entry = {"picture": path.name, "role": role, "arm": arm, "joints": [round(float(q), 9) for q in joints]}
    with (folder / INDEX).open("a", encoding="utf-8") as index:
        index.write(json.dumps(entry) + "\n")
    return path


def load_views(folder: Path, board: Board, roles: Sequence[str] = ()) -> list[View]:
    """All views of a folder, or of some roles, that show the board; glimpses that do not fit it are left out.

    Raises `ConfigurationError` naming file, line and key; with what to try when most pictures show another board.
    """
    path = folder / INDEX
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigurationError(f"{path}", expected="a readable file", got=error.strerror, remedy="record") from error
    entries = [_entry(f"{path}:{number}", line) for number, line in enumerate(lines, 1)]
    views, others = list[View](), list[ConfigurationError]()
    for entry in entries:
        if roles and entry["role"] not in roles:
            continue
        try:
            views.append(_view(folder, board, entry))
        except AnotherBoardError as error:
            others.append(error)
    fitting = [view for view in views if len(view.sighting.ids)]
    if len(others) > len(fitting):
        raise others[0]
    return fitting


def _entry(where: str, line: str) -> dict:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as error:
        raise ConfigurationError(where, expected="JSON", got=str(error), remedy="repair the line") from error
    keys = set(entry) if isinstance(entry, dict) else set()
    if keys != _KEYS:
        raise ConfigurationError(where, expected=f"keys {sorted(_KEYS)}", got=sorted(keys), remedy="repair the line")
    joints = np.asarray(entry["joints"], np.float64)
    if joints.shape != (SIZE,) or not np.isfinite(joints).all():
        raise ConfigurationError(f"{where}: joints", expected=f"{SIZE} finite numbers", got=entry["joints"])
    if entry["arm"] not in ARMS:
        raise ConfigurationError(f"{where}: arm", expected=" or ".join(ARMS), got=entry["arm"])
    return entry


def _view(folder: Path, board: Board, entry: dict) -> View:
    picture = cv2.imread(str(folder / entry["picture"]))
    if picture is None:
        raise ConfigurationError(f"{folder / entry['picture']}", expected="a picture", got="none that can be read")
    sighting = find(board, np.ascontiguousarray(picture[..., ::-1]))
    joints = np.asarray(entry["joints"], np.float64)
    return View(entry["role"], entry["arm"], joints, sighting, (picture.shape[1], picture.shape[0]))
