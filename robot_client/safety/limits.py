"""The station's limits as vectors, and the state they are applied to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import ARMS, JOINTS_PER_ARM, pack
from contract.station import Safety
from robot_client.safety.space import FREE, Space, space_of

UNLIMITED_JERK: Final = 1e12
"""[rad/s^3] More than any change a period allows."""


class Clip(IntFlag):
    """Why told is not what was asked."""

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
    """The limits contradicted each other; the one of higher rank won."""
    TOOL_SPEED = 64
    """The tool centre would have been too fast; the whole arm was slowed."""
    DISTANCE = 128
    """What was asked, or the way to it, is too near to the other arm, the own base or an obstacle."""
    WORKSPACE = 256
    """A tool centre would leave the box."""
    TABLE = 512
    """A tool centre or a part of the arm would be too near to the table."""
    JERK = 1024
    """More change of acceleration than the station allows."""


SPACE_CLIPS: Final = Clip.DISTANCE | Clip.WORKSPACE | Clip.TABLE
"""An arm is too near to something, or would be."""


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
    """Of each arm's tool centre; infinite = not limited."""
    space: Space = FREE
    """Box, table and distances."""
    jerk: NDArray[np.float64] | None = None
    """[rad/s^3]; none = not limited."""

    @property
    def guarded(self) -> bool:
        """Some limit concerns more than one channel, and the way to rest is looked at."""
        return self.space is not FREE or bool(np.isfinite(self.tool_speed_m_s))

    @property
    def most_jerk(self) -> NDArray[np.float64]:
        """(14,) [rad/s^3] also where the station asks for no limit."""
        return np.full_like(self.speed, UNLIMITED_JERK) if self.jerk is None else self.jerk


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What the arms were last told. Arrays (..., 14): targets [rad, 0..1], their speed, what was asked then, and the
    change of speed that led there."""

    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    asked: NDArray[np.float64]
    acceleration: NDArray[np.float64] | float = 0.0

    def after_skipping(self, periods: int) -> Told:
        """The state after whole periods without a command: the mean speed since the last target was that much lower."""
        if periods == 0:
            return self
        return Told(self.position, self.velocity / (1 + periods), self.asked)

    def rows(self, which: NDArray[np.intp]) -> Told:
        """Those rows of arrays (N, 14)."""
        still = np.zeros_like(self.velocity) + self.acceleration
        return Told(self.position[which], self.velocity[which], self.asked[which], still[which])


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The next target, and per channel (..., 14) uint16 the `Clip` bits of everything that was changed."""

    told: Told
    clips: NDArray[np.uint16]


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
        space=FREE if safety.space is None else space_of(safety.space),
        jerk=_jerk(safety),
    )


def seeded(measured: NDArray) -> Told:
    """At rest where the arms were measured. Only at torque enable, or when something else moved the arms."""
    position = np.array(measured, np.float64)
    return Told(position, np.zeros_like(position), position.copy())


def _jerk(safety: Safety) -> NDArray[np.float64] | None:
    left, right = (getattr(safety, arm).jerk_rad_s3 for arm in ARMS)
    if left is None and right is None:
        return None
    free = [UNLIMITED_JERK] * JOINTS_PER_ARM
    return pack(left or free, UNLIMITED_JERK, right or free, UNLIMITED_JERK)


def _per_arm(safety: Safety, joint_field: str, gripper_field: str) -> NDArray[np.float64]:
    left, right = safety.left, safety.right
    return pack(
        getattr(left, joint_field),
        getattr(left, gripper_field),
        getattr(right, joint_field),
        getattr(right, gripper_field),
    )
