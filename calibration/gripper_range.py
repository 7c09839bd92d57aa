"""Motor travel of a unit's gripper, measured by hand with no torque: what `gripper_limits_rad` must say (case B25)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from calibration.arm_check import Travel
from contract.arms import LEAST_TRAVEL_SHARE, NOMINAL_TRAVEL_RAD, ArmUnit
from contract.errors import ConfigurationError, RigError
from contract.layout import Arm
from contract.station import Station
from robot_client.holder.claim import owner
from robot_client.holder.places import arms_directory, bus_claim

MOST_TRAVEL_SHARE: Final = 1.3
"""More is another kind of gripper, or a turn too many."""
WHOLE_SHARE: Final = 0.8
"""Less is worth a word: fingers of another length, or jaws that met something."""

Ask = Callable[[str], None]
"""Says what a person must do, and returns when it is done."""


def measured_range(station: Station, arm: Arm, ask: Ask) -> tuple[float, float]:
    """Motor positions [rad] with the jaws closed and open, as a person sets them.

    Raises `ConfigurationError` for a station without real arms and a travel that has collapsed or is too long, naming
    the arm; `RigError` when somebody holds the arm or its motor does not answer.
    """
    from robot_client.doctor.shaft import gripper_shaft_rad

    unit = _idle_unit(station, arm)
    ends = []
    for word in ("closed", "open"):
        ask(f"{arm} gripper: set the jaws {word} by hand, with nothing between them")
        ends.append(gripper_shaft_rad(unit, arm))
    return checked_range(arm, unit, (ends[0], ends[1]))


def checked_range(arm: Arm, unit: ArmUnit, ends_rad: tuple[float, float]) -> tuple[float, float]:
    """[closed, open], rising or, for a mirrored unit, falling. Raises `ConfigurationError` naming the arm."""
    closed, opened = ends_rad
    share = abs(opened - closed) / NOMINAL_TRAVEL_RAD[unit.gripper]
    if not LEAST_TRAVEL_SHARE <= share <= MOST_TRAVEL_SHARE:
        raise ConfigurationError(
            f"{arm} gripper",
            expected=f"{LEAST_TRAVEL_SHARE:.0%} to {MOST_TRAVEL_SHARE:.0%} of the {NOMINAL_TRAVEL_RAD[unit.gripper]} "
            f"rad of a {unit.gripper}",
            got=f"{closed:.3f} to {opened:.3f} rad, {share:.0%}: {'collapsed' if share < 1 else 'too long'}",
            remedy="free the jaws, move them from stop to stop, and check the kind of gripper in the station file",
        )
    return closed, opened


def raw_ends(unit: ArmUnit, travel: Travel) -> tuple[float, float]:
    """Motor positions [rad] where a gripper came to rest when told closed and open, from shares of the file's range."""
    closed, opened = unit.gripper_limits_rad
    return (closed + travel.closed * (opened - closed), closed + travel.opened * (opened - closed))


def remark(arm: Arm, unit: ArmUnit, ends_rad: tuple[float, float]) -> str:
    """A word on a travel that passes but is short; empty when it is whole."""
    share = abs(ends_rad[1] - ends_rad[0]) / NOMINAL_TRAVEL_RAD[unit.gripper]
    if share >= WHOLE_SHARE:
        return ""
    return (
        f"WARNING {arm} gripper: {abs(ends_rad[1] - ends_rad[0]):.2f} rad of its motor are {share:.0%} of what a "
        f"{unit.gripper} has; measure its range with yam-calibrate gripper"
    )


def _idle_unit(station: Station, arm: Arm) -> ArmUnit:
    arms = station.arms
    if arms is None or arms.bus != "socketcan":
        raise ConfigurationError(
            f"station {station.name}", expected="real arms on CAN buses",
            got="none" if arms is None else "emulated ones", remedy="give the file of a real station",
        )  # fmt: skip
    unit = arms.left if arm == "left" else arms.right
    pid = owner(bus_claim(unit.channel, False, arms_directory(station)))
    if pid:
        raise RigError(
            f"{arm} arm", expected="nobody to hold it", got=f"process {pid}",
            remedy="yam-robot park, then yam-robot arms power-off: the jaws must be free to move by hand",
        )  # fmt: skip
    return unit
