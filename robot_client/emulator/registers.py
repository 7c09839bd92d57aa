"""The parameter registers of one emulated motor."""

from __future__ import annotations

from typing import Final

from robot_client.emulator.frames import READ, WRITE, ParameterRequest, encode_parameter, pack_register, unpack_register
from robot_client.emulator.kinds import Scale

MST_ID, ESC_ID, TIMEOUT, CTRL_MODE, HW_VER, SW_VER, GR, PMAX, VMAX, TMAX = 7, 8, 9, 10, 13, 14, 20, 21, 22, 23
MIT_MODE: Final = 1
TIMEOUT_COUNT_NS: Final = 50_000
"""One count of TIMEOUT. i2rt's set_timeout.py writes 8000 for the factory's 400 ms."""
FACTORY_TIMEOUT: Final = 8000
_READ_ONLY: Final = frozenset((HW_VER, SW_VER, GR))


class Registers:
    """Values by address; what was written counts at once, what was saved survives a power cycle."""

    def __init__(self, motor_id: int, scale: Scale) -> None:
        self.values: dict[int, float | int] = {
            MST_ID: motor_id + 0x10,
            ESC_ID: motor_id,
            TIMEOUT: FACTORY_TIMEOUT,
            CTRL_MODE: MIT_MODE,
            HW_VER: 1,
            SW_VER: 5017,
            GR: scale.gear,
            PMAX: scale.position_rad,
            VMAX: scale.velocity_rad_s,
            TMAX: scale.torque_nm,
        }
        self.writes: list[tuple[int, float | int]] = []
        """Every write that counted, so that a test can say "nothing was written"."""
        self.saves: list[int] = []

    @property
    def timeout_ns(self) -> int:
        """Longest silence on the bus before the motor lets go; 0 = never."""
        return int(self.values[TIMEOUT]) * TIMEOUT_COUNT_NS

    @property
    def scale(self) -> Scale:
        """The ranges the motor decodes with."""
        return Scale(*(float(self.values[register]) for register in (PMAX, VMAX, TMAX, GR)))

    def answer(self, request: ParameterRequest) -> bytes | None:
        """Bytes of the answer; None for a register this motor does not have."""
        value = self.values.get(request.register)
        if value is None:
            return None
        if request.act == WRITE and request.register not in _READ_ONLY:
            value = self.values[request.register] = unpack_register(value, request.raw)
            self.writes.append((request.register, value))
        elif request.act not in (READ, WRITE):
            self.saves.append(request.register)
        return encode_parameter(request, pack_register(value))
