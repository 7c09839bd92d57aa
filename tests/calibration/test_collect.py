"""Collecting views says what kept it from them, and leaves the arm where others can start."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration import twin
from calibration.collect import collect
from calibration.drawing import drawn_view
from contract.errors import ConfigurationError
from contract.station import load_station
from tests.calibration.views import CAMERA, facing


class Cell:
    """Stands where it is told, unless something is in the way; its camera always shows `picture`."""

    station = load_station("twin")

    def __init__(self, picture: NDArray[np.uint8], free: bool = True) -> None:
        self.picture, self.free = picture, free
        self.went: list[NDArray[np.float64]] = []

    def go(self, pose: NDArray[np.float64]) -> bool:
        self.went.append(pose.copy())
        return self.free

    def frame(self, role: str) -> SimpleNamespace:
        return SimpleNamespace(image=self.picture)

    def joints(self) -> SimpleNamespace:
        return SimpleNamespace(positions=self.went[-1])


def test_the_arm_ends_where_it_started() -> None:
    """It stayed at the last pose drawn, and with some seeds the other arm's way to its own start was not free from
    there: 0 views in 60 poses, and the message asked for a board in the middle of the picture."""
    plan, cell = twin.wrist_plan("left", 3), Cell(seen())
    assert len(collect(cell, twin.BOARD, plan)) == 3  # type: ignore[arg-type]
    assert np.array_equal(cell.went[-1], plan.start) and not np.array_equal(cell.went[-2], plan.start)


def test_poses_that_safety_does_not_allow_are_told_from_a_board_that_is_not_seen() -> None:
    with pytest.raises(ConfigurationError, match=r"9 of which safety kept the left arm from.*other arm aside"):
        collect(Cell(seen(), free=False), twin.BOARD, twin.wrist_plan("left", 3))  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"0 of which.*whole board is seen"):
        collect(Cell(np.zeros((480, 640, 3), np.uint8)), twin.BOARD, twin.wrist_plan("left", 3))  # type: ignore[arg-type]


def seen() -> NDArray[np.uint8]:
    """The whole board in the middle of the picture."""
    return drawn_view(twin.BOARD, CAMERA, facing(twin.BOARD))
