"""One unit's gripper: motor radians to 0 (closed) .. 1 (open), and which turn the encoder came up in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from contract.arms import LEAST_TRAVEL_SHARE, NOMINAL_TRAVEL_RAD
from contract.errors import RigError

TURN_RAD: Final = 2 * math.pi
SLACK_RAD: Final = 0.3
"""A gripper may rest this far outside its measured limits (soft jaws, a worn stop)."""


@dataclass(frozen=True, slots=True)
class Gripper:
    """Motor positions of one unit; mirrored units have `open_rad` below `closed_rad`."""

    closed_rad: float
    open_rad: float

    def to_share(self, motor_rad: float) -> float:
        """0 closed .. 1 open."""
        return (motor_rad - self.closed_rad) / (self.open_rad - self.closed_rad)

    def to_motor_rad(self, share: float) -> float:
        """The motor position of an opening."""
        return self.closed_rad + share * (self.open_rad - self.closed_rad)

    def turns_off(self, motor_rad: float, arm: str) -> int:
        """Turns to add to a reading so that it lies in the travel.

        Encoders come up within one turn, and the driver shifts readings beyond half a turn; travel may exceed a turn.
        Raises `RigError` when no turn fits or two do.
        """
        low, high = sorted((self.closed_rad, self.open_rad))
        fits = [turn for turn in range(-3, 4) if low - SLACK_RAD <= motor_rad + turn * TURN_RAD <= high + SLACK_RAD]
        if len(fits) == 1:
            return fits[0]
        raise RigError(
            f"gripper of the {arm} arm",
            expected=f"one turn of {motor_rad:.2f} rad within {low:.2f}..{high:.2f}",
            got=f"{len(fits)} that fit",
            remedy="set the jaws half open by hand and start again"
            if fits
            else "measure gripper_limits_rad of this unit",
        )


def checked_gripper(limits_rad: tuple[float, float], kind: str, arm: str) -> Gripper:
    """Raises `RigError` naming the arm when the travel has collapsed or is not finite."""
    closed, opened = limits_rad
    least = LEAST_TRAVEL_SHARE * NOMINAL_TRAVEL_RAD[kind]
    if not (math.isfinite(closed) and math.isfinite(opened) and abs(opened - closed) >= least):
        raise RigError(
            f"gripper travel of the {arm} arm",
            expected=f"at least {least:.2f} rad of about {NOMINAL_TRAVEL_RAD[kind]}",
            got=f"{closed}..{opened}",
            remedy="measure gripper_limits_rad again with nothing between the jaws",
        )
    return Gripper(closed, opened)
