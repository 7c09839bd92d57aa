"""The station's joint limits against those of the driver, which stops an arm that is beyond its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from i2rt.robots.get_robot import _load_joint_limits_from_xml
from i2rt.robots.utils import ArmType, GripperType
from numpy.typing import NDArray

from contract.arms import ArmUnit
from contract.layout import JOINTS_PER_ARM
from contract.station import ArmLimits
from robot_client.doctor.lines import Line, fail, ok, warn

INSIDE_RAD: Final = 0.05
"""Soft limits lie at least this far inside the model's."""
_ROUNDING_RAD: Final = 0.005
_REST_RAD: Final = 0.01
"""A limit this near to the model's is meant to be the model's: a joint that rests on its stop."""


def check_limits(name: str, unit: ArmUnit, limits: ArmLimits) -> Iterator[Line]:
    """One line for each joint that is too wide, or one for all."""
    model = model_limits(unit)
    what = f"{name}, joint limits"
    room = np.minimum(np.array(limits.lower_rad) - model[:, 0], model[:, 1] - np.array(limits.upper_rad))
    at_stop = np.abs(np.array(limits.lower_rad) - model[:, 0]) < _REST_RAD
    beyond = [i + 1 for i in range(JOINTS_PER_ARM) if room[i] < -_ROUNDING_RAD]
    near = [i + 1 for i in range(JOINTS_PER_ARM) if -_ROUNDING_RAD <= room[i] < INSIDE_RAD - _ROUNDING_RAD]
    near = [joint for joint in near if not at_stop[joint - 1]]
    if beyond:
        yield fail(what, f"joints {beyond} reach beyond the arm's end stops", "narrow lower_rad and upper_rad")
    if near:
        yield warn(what, f"joints {near} are less than {INSIDE_RAD} rad inside", "narrow lower_rad and upper_rad")
    if not beyond and not near:
        yield ok(what, f"at least {INSIDE_RAD} rad inside the arm's end stops, or at the stop it rests on")


def model_limits(unit: ArmUnit) -> NDArray[np.float64]:
    """(6, 2) lower and upper end stop of the arm's model [rad]."""
    arm, gripper = ArmType.from_string_name(unit.arm), GripperType.from_string_name(unit.gripper)
    return np.array(_load_joint_limits_from_xml(arm.get_xml_path(), gripper.get_xml_path()))[:JOINTS_PER_ARM]
