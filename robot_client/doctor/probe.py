"""Asks the devices on one idle CAN bus what they are. Reads only; turns nothing on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import can
from i2rt.motor_config_tool.dm_motor_registers import (
    BUS_ERRORS,
    CMD_READ,
    REG_BY_NAME,
    Scalar,
    _data_to_value,
    _tx_rx,
)
from i2rt.motor_config_tool.utils import RawCanInterface
from i2rt.motor_drivers.utils import MotorType

HANDLE_ID: Final = 0x50E
"""Encoder in a leader's handle; it answers with the id one above."""
_TRIGGER: Final = b"\xff\x02"
_TRIES: Final = 6
_ANSWER_S: Final = 0.02


@contextmanager
def open_bus(channel: str) -> Iterator[RawCanInterface]:
    """Raises OSError or `can.CanError` when it cannot be opened."""
    bus = RawCanInterface(channel=channel, bustype="socketcan")
    try:
        yield bus
    finally:
        bus.close()


def read(bus: RawCanInterface, motor_id: int, register: str) -> Scalar | None:
    """A register's value; None when the motor does not answer."""
    spec = REG_BY_NAME[register]
    try:
        message = _tx_rx(bus, motor_id, [motor_id, 0, CMD_READ, spec.addr, 0, 0, 0, 0], max_retry=_TRIES)
    except BUS_ERRORS:
        return None
    return _data_to_value(spec, bytearray(message.data))


def handle_answers(bus: RawCanInterface) -> bool:
    """There is a leader's handle on this bus."""
    request = can.Message(arbitration_id=HANDLE_ID, data=_TRIGGER, is_extended_id=False)
    for _ in range(_TRIES):
        try:
            bus.bus.send(request)
        except can.CanError:
            return False
        end = time.monotonic() + _ANSWER_S
        while time.monotonic() < end:
            message = bus.bus.recv(timeout=0.002)
            if message is not None and message.arbitration_id == HANDLE_ID + 1:
                return True
    return False


def expected_registers(kind: str) -> Mapping[str, float]:
    """Gear and scales that a motor of this type must have."""
    constants = MotorType.get_motor_constants(kind)
    return {
        "Gr": MotorType.get_gear_ratio(kind),
        "PMAX": constants.POSITION_MAX,
        "VMAX": constants.VELOCITY_MAX,
        "TMAX": constants.TORQUE_MAX,
    }


def kinds_with_gear(gear: float) -> list[str]:
    """Motor types that this gear ratio belongs to."""
    return sorted(name for name, ratio in MotorType.known_gear_ratios().items() if ratio == gear)
