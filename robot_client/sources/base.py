"""The interface of a source of targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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

    @property
    def name(self) -> str:
        """As every recorded tick carries it."""

    def begin(self, moment: Moment) -> None:
        """This source drives from now on; the arms are at `moment.told` and may still move."""

    def ask(self, moment: Moment) -> Asked:
        """The target of this tick. Never waits."""


@runtime_checkable
class Continues(Protocol):
    """A source that must know when the mode changes under it without a change of course."""

    def continue_as(self, epoch: int) -> None:
        """The handoff to this source is over; `epoch` is the new one."""


@runtime_checkable
class Refuses(Protocol):
    """A source that cannot always be handed the arms."""

    def refusal(self, text: str, moment: Moment | None) -> str:
        """Why a person may not hand over now, with what they said; empty = they may. Changes nothing."""
