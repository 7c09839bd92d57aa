"""Before torque and after it: what the motors on a bus say of themselves, and telling them to let go.

Only on a bus that nobody else uses: parameter answers of all motors share one id.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

import can
from i2rt.motor_config_tool.dm_motor_registers import BUS_ERRORS, read_register
from i2rt.motor_config_tool.utils import RawCanInterface
from i2rt.robots.utils import ArmType, GripperType, _load_arm_config

from contract.arms import ArmUnit
from contract.errors import RigError

TIMEOUT_COUNTS: Final = 8000
"""Register TIMEOUT for 400 ms: counts of 50 us, the value i2rt's set_timeout.py restores."""
_OFF: Final = b"\xff" * 7 + b"\xfd"
_TIMES: Final = 3


def driver_motors(unit: ArmUnit) -> tuple[str, ...]:
    """Motor types 1 to 7 that i2rt will encode its commands for."""
    arm = ArmType.from_string_name(unit.arm)
    gripper = GripperType.from_string_name(unit.gripper)
    return (*(str(kind) for _, kind in _load_arm_config(arm).motor_list), str(gripper.get_motor_type(arm)))


def check_motors(unit: ArmUnit, arm: str) -> None:
    """Raises `RigError` unless station and driver agree on the motors and all seven keep their 400 ms timeout."""
    expected = driver_motors(unit)
    if expected != unit.motor_types:
        raise RigError(
            f"motor_types of the {arm} arm",
            expected=f"{', '.join(expected)} for a {unit.arm} with {unit.gripper}",
            got=", ".join(unit.motor_types),
            remedy="correct arm, gripper or motor_types in the station file",
        )
    for motor_id, counts in _timeouts(unit, arm):
        if counts != TIMEOUT_COUNTS:
            raise RigError(
                f"{arm} arm, bus {unit.channel}, motor {motor_id}: register TIMEOUT",
                expected=f"{TIMEOUT_COUNTS} (400 ms)",
                got=f"{counts}" + (" (off: a stalled driver would hold torque for ever)" if counts == 0 else ""),
                remedy=f"run i2rt's motor_config_tool/set_timeout.py --channel {unit.channel} --timeout",
            )


def motors_off(unit: ArmUnit) -> None:
    """Tell all seven to let go. Best effort on a bus that may be dead: then their own timeout does it."""
    try:
        bus = can.interface.Bus(channel=unit.channel, interface="socketcan", bitrate=1_000_000)
    except (OSError, can.CanError):
        return
    with bus:
        for motor_id in [*range(1, len(unit.motor_types) + 1)] * _TIMES:
            try:
                bus.send(can.Message(arbitration_id=motor_id, data=_OFF, is_extended_id=False))
            except can.CanError:
                return


def _timeouts(unit: ArmUnit, arm: str) -> Iterator[tuple[int, int]]:
    try:
        bus = RawCanInterface(channel=unit.channel, bustype="socketcan")
    except (OSError, can.CanError) as error:
        raise RigError(
            f"{arm} arm: bus {unit.channel}",
            expected="an interface that is up",
            got=error,
            remedy=f"plug the adapter in; sudo ip link set {unit.channel} up type can bitrate 1000000",
        ) from error
    with closing(bus):
        for motor_id in range(1, len(unit.motor_types) + 1):
            try:
                yield motor_id, int(read_register(bus, motor_id, "TIMEOUT"))
            except BUS_ERRORS as error:
                raise RigError(
                    f"{arm} arm, bus {unit.channel}, motor {motor_id} (0x{motor_id:02X})",
                    expected="an answer",
                    got="silence",
                    remedy="check power, emergency stop, cable and that nothing else uses the bus",
                ) from error
