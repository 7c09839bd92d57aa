"""One reading of both arms from one JointState topic, or from one topic for each arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import FieldError
from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.rigs.base import JointReading
from yam_vam.joint_states import JointPart, part_of, vector_of, velocities_of
from yam_vam.stamps import Stamps

SKEW_NS: Final = 100 * NS_PER_MS
"""Parts of one reading may be this far apart; beyond it the older arm has gone silent."""


class JointGather:
    """`take` each message; a reading comes once every topic has spoken since the last one."""

    def __init__(self, topics: Sequence[str], stamps: Stamps) -> None:
        self._stamps = {topic: stamps.another() for topic in topics}
        self._parts: dict[str, tuple[JointPart, int]] = {}
        self._newest: tuple[NDArray[np.float64], int] | None = None

    def take(self, topic: str, message: Any, arrival_ns: int) -> JointReading | None:
        """The reading that this message completes. Raises `FieldError` naming the joint at fault."""
        part = part_of(message)
        self._parts[topic] = (part, self._stamps[topic].monotonic(part.ros_ns, arrival_ns))
        if len(self._parts) < len(self._stamps):
            return None
        parts = [part for part, _ in self._parts.values()]
        times = [stamp_ns for _, stamp_ns in self._parts.values()]
        self._parts = {}
        if max(times) - min(times) > SKEW_NS:
            late_ms = (max(times) - min(times)) / NS_PER_MS
            raise FieldError("joint states of the arms", expected="at most 100 ms apart", got=f"{late_ms:.0f} ms")
        return self._reading(parts, min(times))

    @property
    def flagged(self) -> int:
        """Messages whose own stamp could not be used."""
        return sum(stamps.flagged for stamps in self._stamps.values())

    def _reading(self, parts: Sequence[JointPart], stamp_ns: int) -> JointReading:
        positions = vector_of(parts)
        velocities = velocities_of(parts)
        if velocities is None:
            velocities = self._differences(positions, stamp_ns)
        self._newest = (positions, stamp_ns)
        return JointReading(positions, velocities, stamp_ns)

    def _differences(self, positions: NDArray[np.float64], stamp_ns: int) -> NDArray[np.float64]:
        if self._newest is None or stamp_ns <= self._newest[1]:
            return np.zeros_like(positions)
        return (positions - self._newest[0]) * (NS_PER_S / (stamp_ns - self._newest[1]))
