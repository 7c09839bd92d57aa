"""Zeros of joints 1 and 6, against things that no joint turns.

Joint 1: the line from one base to the other, as the station file says the bases stand. A wrong zero turns everything
that an arm believes about its own base, so it turns the way to the other base too. A base that is turned otherwise
than the file says looks just the same: the file is the reference, and only the distance between the bases checks it.
Joint 6: the closing direction of the jaws. A board that they clamp flat has it for its normal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.rigid import Matrix, inverse
from calibration.zeros import SUSPECT_RAD, Fitted
from contract.layout import Arm
from contract.space import Space
from robot_client.teleop.turns import shortest

JAWS_RAD: Final = 0.01
"""How flat a stiff board lies between soft jaws, one standard deviation: a millimetre on their length of ten."""
NOT_CLAMPED_RAD: Final = 0.2
"""A board that is turned further lies in no jaws."""
LAYOUT_M: Final = 0.002
LAYOUT_RAD: Final = 0.005
"""How well a person knows where the bases stand, across the line between them, and how they are turned."""


@dataclass(frozen=True, slots=True)
class Zero:
    """Of one joint."""

    offset_rad: float
    """Measured less true."""
    uncertainty_rad: float
    """One standard deviation."""
    against: str
    """What it was seen against."""

    @property
    def suspect(self) -> bool:
        """Off by more than a hundredth and three times its uncertainty."""
        return abs(self.offset_rad) > max(SUSPECT_RAD, 3.0 * self.uncertainty_rad)


def by_jaws(fitted: Fitted, role: str) -> Zero | None:
    """Joint 6, from a camera that does not move and saw the board in the hand; None when it was not clamped flat."""
    normal = fitted.still(role)[:3, 2]
    turned = _turn_in_jaws(fitted.still(role))
    if abs(normal[2]) > np.sin(NOT_CLAMPED_RAD) or abs(turned) > NOT_CLAMPED_RAD:
        return None
    wide = fitted.deviation(lambda values: _turn_in_jaws(fitted.still(role, values)))
    return Zero(turned, float(np.hypot(wide, JAWS_RAD)), "the board between its jaws")


def _turn_in_jaws(hand_from_board: Matrix) -> float:
    """The jaws close along x of the gripper's frame, and joint 6 turns about its z."""
    normal = hand_from_board[:3, 2]
    angle = float(np.arctan2(normal[1], normal[0]))
    return -(angle - np.pi * round(angle / np.pi))


@dataclass(frozen=True, slots=True, eq=False)
class Bases:
    """Both arms as one camera, or one board, has them: left_base_from_right_base as the arms believe."""

    left: Fitted
    right: Fitted
    role: str
    """Camera that both showed a board to; empty: their wrist cameras looked at one board that stayed."""

    def transform(self, left: NDArray | None = None, right: NDArray | None = None) -> Matrix:
        """(4, 4)"""
        if self.role:
            return self.left.x(self.role, left) @ inverse(self.right.x(self.role, right))
        return self.left.still("left_wrist", left) @ inverse(self.right.still("right_wrist", right))


def by_bases(bases: Bases, space: Space) -> tuple[dict[Arm, Zero], float]:
    """Joint 1 of both arms; and by how much [m] the bases are farther apart than in the file, which no zero changes."""
    stand = standing(space)
    line_m = float(np.linalg.norm(stand[:2, 3]))
    layout = float(np.hypot(LAYOUT_M / line_m, LAYOUT_RAD))
    found: dict[Arm, Zero] = {}
    ways: dict[Arm, Callable[[Matrix], float]] = {"left": _bearing, "right": _bearing_back}
    for arm, way in ways.items():
        wide = np.hypot(
            bases.left.deviation(lambda values, way=way: way(bases.transform(left=values))),  # type: ignore[misc]
            bases.right.deviation(lambda values, way=way: way(bases.transform(right=values))),  # type: ignore[misc]
        )
        off = _apart(way(stand), way(bases.transform()))
        found[arm] = Zero(off, float(np.hypot(wide, layout)), "the way to the other base")
    return found, float(np.linalg.norm(bases.transform()[:2, 3])) - line_m


def standing(space: Space) -> Matrix:
    """left_base_from_right_base as the station file has it."""
    return inverse(base_of(space, "left")) @ base_of(space, "right")


def base_of(space: Space, arm: Arm) -> Matrix:
    """station_from_base of an arm, as the station file has it."""
    base, made = space.base(arm), np.eye(4)
    cosine, sine = np.cos(base.yaw_rad), np.sin(base.yaw_rad)
    made[:2, :2] = [[cosine, -sine], [sine, cosine]]
    made[:3, 3] = base.position_m
    return made


def _bearing(left_from_right: Matrix) -> float:
    return float(np.arctan2(left_from_right[1, 3], left_from_right[0, 3]))


def _bearing_back(left_from_right: Matrix) -> float:
    return _bearing(inverse(left_from_right))


def _apart(reference: float, value: float) -> float:
    return float(shortest(np.array([reference]), np.array([value]))[0])
