"""A second pair of eyes on the rig: when images become readable, and what the joints' velocities are."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from robot_client.clock import Clock
from robot_client.latency.motion import Motion, motion_of_velocities
from robot_client.rigs.base import Rig

_MOST_READINGS: Final = 2_000_000


class Probe:
    """`look` about once a millisecond. Reads what everybody may read; never commands."""

    def __init__(self, rig: Rig, clock: Clock) -> None:
        self._rig, self._clock = rig, clock
        self._newest_ns = -1
        self._stamps: list[int] = []
        self._velocities: list[NDArray[np.float64]] = []
        self._seen: dict[str, int] = {}
        self.arrivals: dict[tuple[str, int], int] = {}
        """(camera role, stamp) -> when the image was first seen, late by one look at most."""

    def open(self) -> None:
        """Attach to the rig."""
        self._rig.open()

    def look(self) -> None:
        """Note what is new."""
        try:
            reading = self._rig.joints()
        except RigError:
            reading = None
        if reading is not None and reading.stamp_ns > self._newest_ns and len(self._stamps) < _MOST_READINGS:
            self._newest_ns = reading.stamp_ns
            self._stamps.append(reading.stamp_ns)
            self._velocities.append(reading.velocities)
        for role, frame in self._rig.frames().items():
            if self._seen.get(role) != frame.stamp_ns:
                self._seen[role] = frame.stamp_ns
                self.arrivals[role, frame.stamp_ns] = self._clock.now_ns()

    def motion(self) -> Motion:
        """All readings so far."""
        return motion_of_velocities(self._stamps, self._velocities)

    def close(self) -> None:
        """Let go of the rig."""
        self._rig.close()
