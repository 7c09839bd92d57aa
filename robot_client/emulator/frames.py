"""CAN frames of DM motors as the motor sees them: MIT commands in, feedback out, parameters both ways.

Byte layout: DM motor manual, as i2rt's `DMSingleMotorCanInterface` encodes it (tests compare byte by byte).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from robot_client.emulator.kinds import KD_MAX, KP_MAX, Scale

BROADCAST_ID: Final = 0x7FF
"""Parameter requests and their answers."""
READ, WRITE, SAVE = 0x33, 0x55, 0xAA
ENABLE, DISABLE, SET_ZERO, CLEAR = 0xFC, 0xFD, 0xFE, 0xFB
_SPECIAL_HEAD: Final = b"\xff" * 7


@dataclass(frozen=True, slots=True)
class MitCommand:
    """Torque = kp * (position - measured) + kd * (velocity - measured) + torque, at the output shaft [rad, Nm]."""

    position_rad: float
    velocity_rad_s: float
    kp: float
    kd: float
    torque_nm: float


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a motor answers to every command."""

    motor_id: int
    error: int
    position_rad: float
    velocity_rad_s: float
    torque_nm: float
    mosfet_c: int
    rotor_c: int


def special_of(data: bytes) -> int | None:
    """ENABLE, DISABLE, SET_ZERO or CLEAR; None for any other frame."""
    if len(data) == 8 and data[:7] == _SPECIAL_HEAD and data[7] in (ENABLE, DISABLE, SET_ZERO, CLEAR):
        return data[7]
    return None


def decode_mit(data: bytes, scale: Scale) -> MitCommand:
    """The command in an 8-byte MIT frame."""
    return MitCommand(
        _value((data[0] << 8) | data[1], -scale.position_rad, scale.position_rad, 16),
        _value((data[2] << 4) | (data[3] >> 4), -scale.velocity_rad_s, scale.velocity_rad_s, 12),
        _value(((data[3] & 0xF) << 8) | data[4], 0.0, KP_MAX, 12),
        _value((data[5] << 4) | (data[6] >> 4), 0.0, KD_MAX, 12),
        _value(((data[6] & 0xF) << 8) | data[7], -scale.torque_nm, scale.torque_nm, 12),
    )


def encode_feedback(feedback: Feedback, scale: Scale) -> bytes:
    """The 8 bytes a motor sends."""
    position = _count(feedback.position_rad, scale.position_rad, 16)
    velocity = _count(feedback.velocity_rad_s, scale.velocity_rad_s, 12)
    torque = _count(feedback.torque_nm, scale.torque_nm, 12)
    return bytes(
        (
            (feedback.error << 4) | (feedback.motor_id & 0xF),
            position >> 8,
            position & 0xFF,
            velocity >> 4,
            ((velocity & 0xF) << 4) | (torque >> 8),
            torque & 0xFF,
            feedback.mosfet_c & 0xFF,
            feedback.rotor_c & 0xFF,
        )
    )


@dataclass(frozen=True, slots=True)
class ParameterRequest:
    """One parameter frame: READ, WRITE or SAVE of a register; `raw` are its four value bytes."""

    motor_id: int
    act: int
    register: int
    raw: bytes


def decode_parameter(data: bytes) -> ParameterRequest | None:
    """The request in a frame to `BROADCAST_ID`; None when it is none."""
    if len(data) != 8 or data[2] not in (READ, WRITE, SAVE):
        return None
    return ParameterRequest(data[0] | (data[1] << 8), data[2], data[3], bytes(data[4:8]))


def encode_parameter(request: ParameterRequest, raw: bytes) -> bytes:
    """The answer: the request's head, then the register's value; a SAVE is answered short."""
    head = bytes((request.motor_id & 0xFF, request.motor_id >> 8, request.act, request.register))
    return head if request.act == SAVE else head + raw


def pack_register(value: float | int) -> bytes:
    """Little-endian float32 for a float, uint32 for an int."""
    return struct.pack("<f", value) if isinstance(value, float) else struct.pack("<I", value)


def unpack_register(like: float | int, raw: bytes) -> float | int:
    """The value in the kind of number that `like` is."""
    number: float | int = struct.unpack("<f" if isinstance(like, float) else "<I", raw)[0]
    return number


def _value(count: int, low: float, high: float, bits: int) -> float:
    return count * (high - low) / ((1 << bits) - 1) + low


def _count(value: float, limit: float, bits: int) -> int:
    return int((min(max(value, -limit), limit) + limit) * ((1 << bits) - 1) / (2 * limit))
