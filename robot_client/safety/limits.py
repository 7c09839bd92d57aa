"""The station's limits as vectors, and the state they are applied to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from contract.layout import JOINTS_PER_ARM, pack
from contract.station import Safety


class Clip(IntFlag):
    """Why told is not what was asked. The highest bit is kept for distance checks."""

    LIMIT = 1
    """Asked beyond the position limit."""
    SPEED = 2
    ACCELERATION = 4
    """More acceleration than allowed, or braking to arrive at what was asked."""
    BRAKING = 8
    """Too fast to stop before the position limit."""
    LEAD = 16
    """Too far ahead of the measured position."""
    EMPTY = 32
    """The limits contradicted each other; speed won."""
    TOOL_SPEED = 64
    """The tool centre would have been too fast; the whole arm was slowed."""


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """Limits per channel, (14,) float64 in the contract's layout: rad, rad/s, rad/s^2; gripper 0..1, 1/s, 1/s^2."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    speed: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    lead: NDArray[np.float64]
    period_s: float
    """Time between two targets."""
    tool_speed_m_s: float = float("inf")
    """Of each arm's tool centre; infinite = not limited (then arrays may have leading axes)."""


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What the arms were last told. Arrays (..., 14): targets [rad, 0..1], their speed, and what was asked then."""

    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    asked: NDArray[np.float64]

    def after_skipping(self, periods: int) -> Told:
        """The state after whole periods without a command: the mean speed since the last target was that much lower."""
        return Told(self.position, self.velocity / (1 + periods), self.asked)


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The next target, and per channel (..., 14) uint8 the `Clip` bits of everything that was changed."""

    told: Told
    clips: NDArray[np.uint8]


def limits_of(safety: Safety, period_s: float) -> Limits:
    """Limits of a station whose loop gives a target every `period_s`."""
    lead_rad = [safety.lead_rad] * JOINTS_PER_ARM
    return Limits(
        lower=safety.vectors("lower_rad", 0.0),
        upper=safety.vectors("upper_rad", 1.0),
        speed=_per_arm(safety, "speed_rad_s", "gripper_speed_1_s"),
        acceleration=_per_arm(safety, "acceleration_rad_s2", "gripper_acceleration_1_s2"),
        lead=pack(lead_rad, safety.lead_gripper, lead_rad, safety.lead_gripper),
        period_s=period_s,
        tool_speed_m_s=safety.tool_speed_m_s,
    )


def seeded(measured: NDArray) -> Told:
    """At rest where the arms were measured. Only at torque enable, or when something else moved the arms."""
    position = np.array(measured, np.float64)
    return Told(position, np.zeros_like(position), position.copy())


def _per_arm(safety: Safety, joint_field: str, gripper_field: str) -> NDArray[np.float64]:
    left, right = safety.left, safety.right
    return pack(
        getattr(left, joint_field),
        getattr(left, gripper_field),
        getattr(right, joint_field),
        getattr(right, gripper_field),
    )
