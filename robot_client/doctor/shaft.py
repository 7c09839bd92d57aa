"""Where one arm's gripper motor is while nobody holds the arm: for its range, which a person sets by hand."""

from __future__ import annotations

import can

from contract.arms import ArmUnit
from contract.errors import RigError
from contract.layout import ARM_SIZE
from robot_client.doctor import probe

_REMEDY = "run yam-robot doctor, which looks at bus and motors"


def gripper_shaft_rad(unit: ArmUnit, arm: str) -> float:
    """Position [rad] of motor 7, which has no torque afterwards. Raises `RigError` when it cannot be asked."""
    try:
        with probe.open_bus(unit.channel) as bus:
            found = probe.position_rad(bus, ARM_SIZE, unit.motor_types[-1])
    except (OSError, can.CanError) as error:
        raise RigError(
            f"{arm} arm, bus {unit.channel}", expected="an interface that is up", got=error, remedy=_REMEDY
        ) from error
    if found is None:
        raise RigError(f"{arm} arm, motor {ARM_SIZE}", expected="an answer", got="silence", remedy=_REMEDY)
    return found
