"""What a holder lets pass and when it raises the alarm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.arms import Arms
from contract.errors import StationError
from contract.layout import JOINTS_PER_ARM, Arm, arm_of
from contract.station import Station
from robot_client.clock import NS_PER_MS, NS_PER_S

MOTOR_TIMEOUT_NS: Final = 400 * NS_PER_MS
"""The motors' own: without a command for this long they let go."""
_LEAP_HEARTBEATS: Final = 0.5
_LEAP_TICKS: Final = 2.0
"""A step is what a joint's speed limit allows in half a heartbeat, but not less than in two periods of a slow loop."""
_ROUNDING_RAD: Final = 1e-9
BEYOND_RAD: Final = 0.02
"""Targets may lie this far outside the station's soft limits: rounding, not intent."""
STILL_RAD_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Rules:
    """Of one arm. Vectors (6,) [rad]: joints only."""

    name: str
    lower: NDArray
    upper: NDArray
    rest: NDArray
    leap_rad: NDArray
    """Largest step from the held pose to a target. A holder that was not scheduled for a while finds only the newest of
    a client's targets, and must not go there in one jump."""
    rest_tolerance_rad: float
    heartbeat_ns: int
    warm_c: float
    hold_alarm_ns: int

    def fault(self, target: NDArray, reference: NDArray) -> str:
        """Why the arm must not be sent from `reference` to `target` (7,); empty = it may."""
        if not np.isfinite(target).all():
            return "the target is not finite"
        joints = target[:JOINTS_PER_ARM]
        # An arm that lies, or sags, outside its soft limits may stay there and come in; it may not go further out.
        outside = self._outside(joints) - np.maximum(self._outside(reference[:JOINTS_PER_ARM]), 0.0)
        if outside.max() > BEYOND_RAD:
            worst = int(outside.argmax())
            return f"joint {worst + 1} is sent to {joints[worst]:.2f} rad, outside the station's limits"
        leap = np.abs(joints - reference[:JOINTS_PER_ARM])
        if (leap > self.leap_rad + _ROUNDING_RAD).any():
            worst = int((leap - self.leap_rad).argmax())
            return f"joint {worst + 1} is sent {leap[worst]:.2f} rad away in one step"
        return ""

    def unrest(self, positions: NDArray, velocities: NDArray) -> str:
        """Why the arm must not be let go where it is; empty = it lies at rest."""
        away = np.abs(positions[:JOINTS_PER_ARM] - self.rest)
        if away.max() > self.rest_tolerance_rad:
            worst = int(away.argmax())
            return f"joint {worst + 1} is {away[worst]:.2f} rad from the park pose; park first"
        if np.abs(velocities[:JOINTS_PER_ARM]).max() > STILL_RAD_S:
            return "it is moving; wait until it stands"
        return ""

    def _outside(self, joints: NDArray) -> NDArray:
        outside: NDArray = np.maximum(self.lower - joints, joints - self.upper)
        return outside


def rules_of(station: Station, arm: Arm) -> Rules:
    """From the station file."""
    arms, limits = arms_of(station), getattr(station.safety, arm)
    return Rules(
        name=arm,
        lower=np.array(limits.lower_rad),
        upper=np.array(limits.upper_rad),
        rest=arm_of(station.poses.park.vector(), arm)[:JOINTS_PER_ARM],
        leap_rad=np.array(limits.speed_rad_s) * _leap_s(station, arms),
        rest_tolerance_rad=arms.rest_tolerance_rad,
        heartbeat_ns=int(arms.heartbeat_ms * NS_PER_MS),
        warm_c=arms.warm_c,
        hold_alarm_ns=int(arms.hold_alarm_s * NS_PER_S),
    )


def _leap_s(station: Station, arms: Arms) -> float:
    return max(_LEAP_HEARTBEATS * arms.heartbeat_ms / 1e3, _LEAP_TICKS / station.timing.loop_hz)


def arms_of(station: Station) -> Arms:
    """The section [arms]. Raises `StationError` for a station without real arms."""
    if station.arms is None:
        raise StationError(
            f"station {station.name}",
            expected="a section [arms]",
            got=f'rig "{station.rig}"',
            remedy="give a station of real arms",
        )
    return station.arms
