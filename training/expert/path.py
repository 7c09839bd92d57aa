"""Joint-space paths: minimum-jerk moves between waypoints, sampled as rows of absolute targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import GRIPPER_MASK

ROW_S: Final = 0.1
"""Time between rows."""
_MEAN_SPEED_RAD_S: Final = 1.1
_GRIPPER_S: Final = 0.4


@dataclass(frozen=True, slots=True)
class Waypoint:
    """Where to be: targets (14,), least time [s] to get there, and what the move is for."""

    target: NDArray[np.float64]
    least_s: float
    purpose: str


def rows_to(start: NDArray[np.float64], waypoint: Waypoint) -> Iterator[NDArray[np.float64]]:
    """Rows (14,) of the move from `start`, the last one being the waypoint itself."""
    count = rows_needed(start, waypoint)
    for i in range(1, count + 1):
        yield start + (waypoint.target - start) * min_jerk(i / count)


def rows_needed(start: NDArray[np.float64], waypoint: Waypoint) -> int:
    """Rows of a move whose mean joint speed stays at or below 1.1 rad/s."""
    change = np.abs(waypoint.target - start)
    seconds = max(
        waypoint.least_s,
        float(change[~GRIPPER_MASK].max()) / _MEAN_SPEED_RAD_S,
        float(change[GRIPPER_MASK].max()) * _GRIPPER_S,
    )
    return max(1, int(np.ceil(seconds / ROW_S - 1e-9)))


def min_jerk(s: float) -> float:
    """Share of the way at share `s` of the time: 10 s^3 - 15 s^4 + 6 s^5 (Flash and Hogan 1985)."""
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)
