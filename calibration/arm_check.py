"""Arms against their model: directions, left and right, gripper travel (case B25), zeros (case B27)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.cell import Cell
from calibration.course import Wiggle
from contract.arms import LEAST_TRAVEL_SHARE
from contract.errors import ConfigurationError
from contract.layout import ARMS, JOINTS_PER_ARM, Arm, gripper_of, index, joints_of
from robot_client.teleop.turns import shortest

WIGGLE_RAD: Final = 0.08
WIGGLE_S: Final = 1.6
_FOLLOWS: Final = 0.5
"""Share of the told way that must be measured."""
LARGEST_ZERO_RAD: Final = 0.05
GRIPPER_S: Final = 2.0
_LEAST_CHANGE: Final = 2.0
"""Mean change of a wrist camera's picture [grey levels] that says its arm moved."""


@dataclass(frozen=True, slots=True)
class Travel:
    """A gripper's way."""

    closed: float
    opened: float
    """Measured 0..1 when told 0 and 1."""

    @property
    def share(self) -> float:
        """Of the whole range."""
        return min(max(self.opened - self.closed, 0.0), 1.0)


def directions(cell: Cell, arm: Arm) -> tuple[int, ...]:
    """(6,) +1 of each joint after a small slow wiggle.

    Raises `ConfigurationError` naming a joint that stands still or turns the other way, or the arm that moved instead.
    """
    return tuple(_direction(cell, arm, i) for i in range(JOINTS_PER_ARM))


def _direction(cell: Cell, arm: Arm, joint: int) -> int:
    name = f"{arm}_joint{joint + 1}"
    ticks = cell.follow(Wiggle(index(name), WIGGLE_RAD, WIGGLE_S, rate_hz=0.9), WIGGLE_S)
    told = np.array([t.told for t in ticks if t.told is not None and t.measured is not None])
    measured = np.array([t.measured for t in ticks if t.told is not None and t.measured is not None])
    wanted = told[:, index(name)] - told[0, index(name)]
    moved = measured - measured[0]
    gain = moved.T @ wanted / float(wanted @ wanted)
    other = "right" if arm == "left" else "left"
    if abs(gain[index(name)]) < _FOLLOWS <= abs(gain[index(f"{other}_joint{joint + 1}")]):
        raise _wrong(name, "this joint to move", f"{other}_joint{joint + 1} moved", "exchange left and right buses")
    if abs(gain[index(name)]) < _FOLLOWS:
        raise _wrong(name, "to follow", f"{gain[index(name)]:.0%} of the way", "check that it is free and has torque")
    if gain[index(name)] < 0:
        raise _wrong(name, "to turn as told", "the other way", "correct the joint's direction in the driver")
    return 1


def gripper_travel(cell: Cell, arm: Arm) -> Travel:
    """Closes and opens the gripper. Raises `ConfigurationError` naming the arm: collapsed or mirrored range."""
    ends = []
    pose = cell.stands()
    for told in (0.0, 1.0):
        pose[index(f"{arm}_gripper")] = told
        cell.go(pose)
        cell.stand(GRIPPER_S - 1.0)
        ends.append(float(gripper_of(cell.joints().positions, arm)))
    return checked_travel(arm, *ends)


def checked_travel(arm: Arm, closed: float, opened: float) -> Travel:
    """Of what was measured [0..1] when told closed and open. Raises `ConfigurationError` (case B25)."""
    way = opened - closed
    if way <= -LEAST_TRAVEL_SHARE:
        raise _wrong(
            f"{arm} gripper", "to open when told to open", f"it went from {closed:.2f} to {opened:.2f}: mirrored",
            f"exchange the two values of arms.{arm}.gripper_limits_rad",
        )  # fmt: skip
    if way < LEAST_TRAVEL_SHARE:
        raise _wrong(
            f"{arm} gripper", f"{LEAST_TRAVEL_SHARE:.0%} of its travel or more", f"{way:.0%}: its range collapsed",
            f"free the jaws and measure arms.{arm}.gripper_limits_rad again",
        )  # fmt: skip
    return Travel(closed, opened)


def zeros(arm: Arm, measured: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Measured less true (6,) [rad], the shortest way round, of an arm that lies at a known pose.

    Raises `ConfigurationError` naming the joint: off by a turn (B27), or by more than lying differently explains.
    """
    apart = np.asarray(measured, np.float64) - reference
    offset = shortest(reference, measured)
    for i in range(JOINTS_PER_ARM):
        if abs(apart[i] - offset[i]) > 1e-6:
            turns = round(float(apart[i] - offset[i]) / (2 * np.pi))
            raise _wrong(f"{arm}_joint{i + 1}", "its own turn", f"{turns:+d} turn off", "power it up near its zero")
        if abs(offset[i]) > LARGEST_ZERO_RAD:
            raise _wrong(
                f"{arm}_joint{i + 1}", f"within {LARGEST_ZERO_RAD:g} rad of the reference pose",
                f"{offset[i]:+.3f} rad", "lay the arm down as shown; if it is right, set the motor's zero anew",
            )  # fmt: skip
    return offset


def sides(cell: Cell, roles: Sequence[str] = ("left_wrist", "right_wrist")) -> None:
    """Each arm's own wrist camera moves with it. Joint readings cannot tell: exchanged buses exchange them too.

    Raises `ConfigurationError` when the other arm's camera moved.
    """
    for arm in ARMS:
        changes = _changes(cell, arm, roles)
        own, other = (changes[f"{side}_wrist"] for side in (arm, "right" if arm == "left" else "left"))
        if not own > max(_LEAST_CHANGE, other):
            raise _wrong(
                f"{arm} arm", f"the picture of {arm}_wrist to move with it",
                f"{own:.1f} there, {other:.1f} at the other",
                "exchange left and right: the arms' buses, or the cameras' devices",
            )  # fmt: skip


def _changes(cell: Cell, arm: Arm, roles: Sequence[str]) -> dict[str, float]:
    here = cell.stands()
    before = {role: cell.frame(role).image.astype(np.int16) for role in roles}
    there = here.copy()
    there[index(f"{arm}_joint5")] += 2 * WIGGLE_RAD * (1 if joints_of(here, arm)[4] < 0 else -1)
    cell.go(there)
    after = {role: cell.frame(role).image for role in roles}
    cell.go(here)
    return {role: float(np.abs(after[role] - before[role]).mean()) for role in roles}


def _wrong(what: str, expected: str, got: str, remedy: str) -> ConfigurationError:
    return ConfigurationError(what, expected=expected, got=got, remedy=remedy)
