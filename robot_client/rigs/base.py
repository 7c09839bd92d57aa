"""What a rig is: two arms and their cameras, read and commanded without waiting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from contract.layout import ARMS, Arm


class Stop(Enum):
    """The three stops. They are never called just "stop", because a person's hand may be under the arm."""

    HOLD = "hold"
    """Torque on, target frozen at the last command."""
    RELAX = "relax"
    """Gravity compensated, no position torque: a person can move the arm."""
    POWER_OFF = "power_off"
    """No torque at all. The arms have no brakes: they fall."""


@dataclass(frozen=True, slots=True)
class JointReading:
    """Measured state of both arms.

    positions (14,) float64 in the contract's layout (rad, gripper 0..1), velocities (14,) float64 (rad/s, gripper
    1/s), stamp_ns of
    the measurement on the robot host's monotonic clock.
    """

    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    stamp_ns: int
    held: NDArray[np.float64] | None = None
    """(14,) where somebody else already holds the arms with torque, None if nobody does. Whoever takes over starts
    there: starting from measured, which sags, would let the arms creep down with every change of hands."""


class ArmFallingError(RigError):
    """An arm that nothing holds; the message names it."""

    code: ClassVar[str] = "arm_falling"


class HeldError(RigError):
    """Arms were held by their holders, against what they were told. Targets count again, from where they are held.

    Nothing of the command that met this has reached any arm.
    """

    code: ClassVar[str] = "held"

    arms: tuple[Arm, ...] = ARMS
    """The held ones; both unless `of` was told."""

    @classmethod
    def of(cls, what: str, arms: tuple[Arm, ...]) -> HeldError:
        """The error of these arms. The maker has no such argument: what crosses the wire is made of its texts."""
        error = cls(what)
        error.arms = arms
        return error


@dataclass(frozen=True, slots=True)
class Frame:
    """One camera image, HWC uint8 RGB, stamped when it was captured (robot host's monotonic clock)."""

    role: str
    image: NDArray[np.uint8]
    stamp_ns: int


class Rig(Protocol):
    """Two arms and their cameras. No call waits; every failure is a `RigError`."""

    def open(self) -> None:
        """Get ready.

        Needs nothing of the other side yet, so that a process which uses only half a rig can open it.
        """

    def joints(self) -> JointReading:
        """The newest measurement; its stamp says how old it is. Raises `RigError` while there is none."""

    def frames(self) -> Mapping[str, Frame]:
        """The newest frame of each camera role that has delivered one; empty before the first."""

    def command(self, target: NDArray[np.float64]) -> None:
        """Set position targets (14,) in the contract's layout. Refuses what is not finite."""

    def stop(self, how: Stop) -> None:
        """Stop moving in one of the three ways."""

    def close(self) -> None:
        """Let go of the connection. Never moves and never relaxes an arm."""


@runtime_checkable
class LetsGoWithCare(Protocol):
    """A rig whose arms fall when they are let go."""

    def refusal(self, how: Stop, confirmed: bool) -> str:
        """Why this stop is refused now; empty = it may be done."""


@runtime_checkable
class RaisesAlarms(Protocol):
    """A rig whose arms can be in a state that a person should see to, although they are held."""

    def alarm(self) -> str:
        """For people, one line; empty = nothing."""
