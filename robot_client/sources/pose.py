"""Moves both arms to one pose of the station, gently."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.fade import Fade, gentle_duration_ns
from robot_client.modes import Event
from robot_client.safety.limits import Limits
from robot_client.sources.base import Asked, Moment

_THERE: Final = 1e-6
"""Told has converged on the pose [rad]."""


class PoseSource:
    """A minimum-jerk ramp from told to `pose` (14,) at `share` of the speed and acceleration limits; then it arrived.

    Arrival is told reaching the pose: measured arms sag by 30 mrad, and waiting for them would never end.
    """

    def __init__(self, name: str, pose: NDArray[np.float64], limits: Limits, share: float) -> None:
        self.name = f"pose:{name}"
        self._pose, self._limits, self._share = pose, limits, share
        self._ramp = Fade(np.zeros_like(pose), 0, 1)

    def begin(self, moment: Moment) -> None:
        offset = moment.told.position - self._pose
        self._ramp = Fade(offset, moment.now_ns, gentle_duration_ns(offset, self._limits, self._share))

    def ask(self, moment: Moment) -> Asked:
        left = np.abs(moment.told.position - self._pose).max()
        if self._ramp.over(moment.now_ns) and left < _THERE:
            return Asked(self._pose, event=Event.ARRIVED, reason=f"{self.name} reached")
        return Asked(self._pose + self._ramp.at(moment.now_ns))
