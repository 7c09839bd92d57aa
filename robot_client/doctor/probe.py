"""Asks the devices on one idle CAN bus what they are, and where. Turns nothing on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import can
from i2rt.motor_config_tool.dm_motor_registers import (
    CAN_BROADCAST,
    CMD_READ,
    REG_BY_NAME,
    Scalar,
    _data_to_value,
)
from i2rt.motor_config_tool.utils import RawCanInterface
from i2rt.motor_drivers.utils import MotorType

HANDLE_ID: Final = 0x50E
"""Encoder in a leader's handle; it answers with the id one above."""
_TRIGGER: Final = b"\xff\x02"
_OFF: Final = b"\xff" * 7 + b"\xfd"
_TRIES: Final = 6
_ANSWER_S: Final = 0.02
_STALE: Final = 64
"""Old frames passed over before a question."""


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
    request = bytes((motor_id, 0, CMD_READ, spec.addr, 0, 0, 0, 0))
    data = _asked(bus, CAN_BROADCAST, request, lambda m: _echoes(m, motor_id, spec.addr))
    return None if data is None else _data_to_value(spec, bytearray(data))


def position_rad(bus: RawCanInterface, motor_id: int, kind: str) -> float | None:
    """Where a motor's shaft is, as its encoder counts; None when it does not answer.

    Asked by telling the motor to have no torque, which every motor answers with its state: for arms that lie at rest.
    """
    data = _asked(bus, motor_id, _OFF, lambda m: len(m.data) == 8 and m.data[0] & 0x0F == motor_id)
    if data is None:
        return None
    furthest = float(MotorType.get_motor_constants(kind).POSITION_MAX)
    return (data[1] << 8 | data[2]) / 0xFFFF * 2.0 * furthest - furthest


def handle_answers(bus: RawCanInterface) -> bool:
    """There is a leader's handle on this bus."""
    return _asked(bus, HANDLE_ID, _TRIGGER, lambda m: bool(m.arbitration_id == HANDLE_ID + 1)) is not None


def _asked(
    bus: RawCanInterface, frame_id: int, request: bytes, is_answer: Callable[[can.Message], bool]
) -> bytes | None:
    """Data of the first answer, after a few tries; frames of others are passed over."""
    for _ in range(_TRIES):
        _drain(bus)
        try:
            bus.bus.send(can.Message(arbitration_id=frame_id, data=request, is_extended_id=False))
        except can.CanError:
            continue
        end = time.monotonic() + _ANSWER_S
        while time.monotonic() < end:
            message = bus.bus.recv(timeout=0.002)
            if message is not None and is_answer(message):
                return bytes(message.data)
    return None


def _drain(bus: RawCanInterface) -> None:
    for _ in range(_STALE):
        if bus.bus.recv(timeout=0.0) is None:
            return


def _echoes(message: can.Message, motor_id: int, register: int) -> bool:
    """Parameter answers of all motors share one id; the echo in the payload tells whose and which."""
    data = message.data
    return len(data) == 8 and data[0] == motor_id and data[2] == CMD_READ and data[3] == register


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
