"""Joint readings over time: when they show movement, and how far measured lags behind told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import JOINT_MASK, SIZE

MOVES_RAD_S: Final = 0.02
"""Joint speed that counts as movement: above the noise of a velocity reading, far below any motion with a purpose."""
_REST_NS: Final = 50_000_000
_PATIENCE_NS: Final = 1_000_000_000
_MOST_LAG_NS: Final = 400_000_000
_LAG_STEP_NS: Final = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Readings in order of their stamps: `stamps_ns` (N,), and `speeds_rad_s` (N,), the fastest joint's."""

    stamps_ns: NDArray[np.int64]
    speeds_rad_s: NDArray[np.float64]

    def first_after(self, moment_ns: int) -> int | None:
        """Stamp of the first reading after a moment that shows movement; None when there is none within a second."""
        start, end = np.searchsorted(self.stamps_ns, (moment_ns, moment_ns + _PATIENCE_NS), side="right")
        moving = np.flatnonzero(self.speeds_rad_s[start:end] > MOVES_RAD_S)
        return int(self.stamps_ns[start + moving[0]]) if len(moving) else None

    def at_rest(self, moment_ns: int) -> bool:
        """No reading of the 50 ms before a moment shows movement, and there is one."""
        start, end = np.searchsorted(self.stamps_ns, (moment_ns - _REST_NS, moment_ns), side="right")
        return bool(end > start and (self.speeds_rad_s[start:end] <= MOVES_RAD_S).all())


def motion_of_velocities(stamps_ns: list[int], velocities: list[NDArray[np.float64]]) -> Motion:
    """From readings (14,) with the rig's own joint velocities."""
    table = np.array(velocities, np.float64).reshape(-1, SIZE)
    return Motion(np.array(stamps_ns, np.int64), np.abs(table[:, JOINT_MASK]).max(axis=1, initial=0.0))


def motion_of_positions(stamps_ns: NDArray, positions: NDArray) -> Motion:
    """From positions (N, 14) alone, by differences; for rigs whose velocities only the loop itself can read."""
    stamps_ns, first = np.unique(stamps_ns, return_index=True)
    positions = positions[first][:, JOINT_MASK]
    steps_s = np.diff(stamps_ns)[:, np.newaxis] / 1e9
    speeds = np.abs(np.diff(positions, axis=0) / steps_s).max(axis=1, initial=0.0)
    return Motion(stamps_ns[1:], np.nan_to_num(speeds))


def lag_ms(stamps_ns: NDArray, told: NDArray, measured_stamps_ns: NDArray, measured: NDArray) -> float | None:
    """By how much measured comes behind told: the shift at which their joint velocities correlate best.

    Arrays of N ticks, (N,) and (N, 14). None when nothing moved.
    """
    whole = np.isfinite(told).all(axis=1) & np.isfinite(measured).all(axis=1)
    times_s, there_s = stamps_ns[whole] / 1e9, measured_stamps_ns[whole] / 1e9
    told, measured = told[whole][:, JOINT_MASK], measured[whole][:, JOINT_MASK]
    if len(told) < 3 or np.ptp(told, axis=0).max() < MOVES_RAD_S:
        return None
    joint = int(np.ptp(told, axis=0).argmax())
    wanted = np.gradient(told[:, joint], times_s)
    lags_ns = np.arange(0, _MOST_LAG_NS, _LAG_STEP_NS)
    alike = [_likeness(times_s, wanted, there_s, measured[:, joint], lag / 1e9) for lag in lags_ns]
    return float(lags_ns[int(np.argmax(alike))] / 1e6)


def _likeness(times_s: NDArray, wanted: NDArray, there_s: NDArray, measured: NDArray, lag_s: float) -> float:
    """Correlation of the velocities that are still there after the shift."""
    inside = times_s + lag_s <= there_s[-1]
    if inside.sum() < 3:
        return -1.0
    speed = np.gradient(np.interp(times_s[inside] + lag_s, there_s, measured), times_s[inside])
    both = float(np.linalg.norm(speed) * np.linalg.norm(wanted[inside]))
    return float(speed @ wanted[inside]) / both if both else -1.0
