"""The interface of a source of targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_client.modes import Event
from robot_client.rigs.base import JointReading
from robot_client.safety.limits import Told


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """What a source may know at one tick."""

    now_ns: int
    """The tick's place on the fixed grid, so that a smooth course stays smooth when a tick is late."""
    told: Told
    reading: JointReading
    epoch: int


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A source's word for one tick: a target (14,) or None for "brake", and at most one event."""

    values: NDArray[np.float64] | None
    row: int = -1
    fraction: float = 0.0
    chunk_id: str = ""
    event: Event | None = None
    reason: str = ""


class TargetSource(Protocol):
    """Asked once a tick while it drives. Taking over is its own ramp from `told`, never a second loop."""

    name: str

    def begin(self, moment: Moment) -> None:
        """This source drives from now on; the arms are at `moment.told` and may still move."""

    def ask(self, moment: Moment) -> Asked:
        """The target of this tick. Never waits."""
