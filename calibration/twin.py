"""Calibration on the twin: the same routines on a station whose true values are known to whoever checks the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from calibration.board import Board
from calibration.cell import Cell
from calibration.collect import Plan
from contract.layout import SIZE, Arm, pack
from contract.station import Station

if TYPE_CHECKING:
    from robot_client.twin.timed import Delays, TimedRig

BOARD: Final = Board(columns=7, rows=5, square_m=0.03, marker_m=0.022)
SIZE_PX: Final = (640, 480)
"""As the real cameras deliver; the policy gets far smaller pictures."""
_PIXELS_PER_SQUARE: Final = 120
_ASIDE: Final = (0.75, 0.2, 0.3, 0.0, 0.0, 0.0)
_OVER_TABLE: Final = (-0.827, 1.65, 1.75, -1.3, -0.291, -0.786)
_SHOWING: Final = (-1.6, 0.55, 0.8, -0.3, -0.85, 1.45)
_MIRROR: Final = np.array([-1.0, 1.0, 1.0, 1.0, -1.0, -1.0])
"""The one arm's joints for the other's mirror image."""
_SEEDS: Final = 10
"""Between the plans of one run of the bench and those of the next."""
_WRIST_SPREAD: Final = (0.2, 0.15, 0.15, 0.42, 0.6, 0.6)
_TOP_SPREAD: Final = (0.30, 0.25, 0.20, 0.5, 0.5, 0.55)


def make_rig(
    delays: Delays | None = None,
    step_s: float = 0.005,
    size: tuple[int, int] = SIZE_PX,
    zero_rad: Sequence[float] = (0.0,) * SIZE,
) -> TimedRig:
    """A twin in simulated time with the board. MuJoCo is loaded here."""
    from robot_client.twin import gl

    gl.choose()
    from robot_client.twin.board import BoardPicture
    from robot_client.twin.cameras import Size
    from robot_client.twin.timed import Delays, TimedRig

    picture = BoardPicture(
        BOARD.picture(_PIXELS_PER_SQUARE), BOARD.columns * BOARD.square_m, BOARD.rows * BOARD.square_m
    )
    return TimedRig(picture, Size(*size), delays=delays or Delays(), step_s=step_s, zero_rad=zero_rad)


def make_cell(rig: TimedRig, station: Station, loop_hz: float = 50.0) -> Cell:
    """The rig is its own clock. 50 Hz: half as many ticks to compute as the station's own, and no worse poses."""
    return Cell(rig, rig, station, loop_hz)


def wrist_plan(arm: Arm, views: int, seed: int = 0) -> Plan:
    """The wrist camera looks down at the board on the table. Poses of another `seed` are others."""
    start = _both(arm, _OVER_TABLE)
    return Plan(f"{arm}_wrist", arm, start, _WRIST_SPREAD, views, seed=_SEEDS * seed + 1 + (arm == "right"))


def top_plan(arm: Arm, views: int, seed: int = 0) -> Plan:
    """The hand shows the board, flat between its jaws, to the top camera."""
    start = _both(arm, _SHOWING)
    return Plan("top", arm, start, _TOP_SPREAD, views, seed=_SEEDS * seed + 3 + (arm == "right"))


def _both(arm: Arm, joints: tuple[float, ...]) -> np.ndarray:
    own = np.array(joints) if arm == "left" else _MIRROR * joints
    left = own if arm == "left" else np.array(_ASIDE)
    right = own if arm == "right" else _MIRROR * _ASIDE
    return pack(left, 1.0, right, 1.0)


def board_place(role: str, arm: Arm) -> Literal["table", "left_hand", "right_hand"]:
    """Where the board must be for that camera and arm."""
    if role != "top":
        return "table"
    return "left_hand" if arm == "left" else "right_hand"
