"""One leader's raw readings -> one arm's values in the follower's convention, and back."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import JOINTS_PER_ARM
from contract.station import ArmLimits
from contract.teleop import LeaderCalibration
from robot_client.teleop.turns import Continuous

RELATCH_NS: Final = 1_500_000_000
"""Longer than any station lets a leader be silent before the arms hold (`Teleop.leader_ms` is at most 1000)."""


class CalibratedArm:
    """Joints in the turn that lies within the follower's limits (B27), trigger as an opening 0..1."""

    def __init__(self, calibration: LeaderCalibration, limits: ArmLimits) -> None:
        self._signs, self._offsets = np.array(calibration.signs, float), np.array(calibration.offsets_rad)
        self._closed, self._open = calibration.gripper_closed_open
        middle = (np.array(limits.lower_rad) + np.array(limits.upper_rad)) / 2.0
        self._course = Continuous(middle, RELATCH_NS)

    @property
    def glitches(self) -> int:
        """Readings that were not believed."""
        return self._course.glitches

    def values(self, raw: NDArray[np.float64], trigger: float, now_ns: int) -> NDArray[np.float64] | None:
        """(7,) from six raw joint angles [rad] and the trigger's raw reading; None for a glitch."""
        joints = self._course.take(self._signs * np.asarray(raw, np.float64) + self._offsets, now_ns)
        opening = (trigger - self._closed) / (self._open - self._closed)
        if joints is None or not np.isfinite(opening):
            return None
        return np.append(joints, min(max(opening, 0.0), 1.0))

    def raw(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Six raw joint angles of one arm's values (7,); the turn is left open."""
        return self._signs * (values[:JOINTS_PER_ARM] - self._offsets)
