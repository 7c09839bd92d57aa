"""Emulated passive encoders (a leader's handle, or a whole leader without motors), as i2rt's driver asks them.

Request id 0x50E: device (0xFF = all), command. Report on 0x50F: device, position and velocity in 1/4096 turns (signed
16 bit, big endian), buttons. Version and EEPROM answers come on 0x50E with the command's highest bit set.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import pi
from typing import Final

REQUEST_ID: Final = 0x50E
REPORT_ID: Final = 0x50F
COUNTS_PER_TURN: Final = 4096
_ALL: Final = 0xFF
_REPORT, _VERSION, _EEPROM, _ANSWER = 0x02, 0x03, 0x07, 0x80
_FIRMWARE: Final = (2, 4, 0)
"""From 2.4.0 on the ADC needs no setting; the report frequency in the EEPROM is 0: they speak when asked."""


class EncoderBoard:
    """Device number -> angle [rad]; `buttons` bit 0 is the dead-man, bit 1 the clutch. `silent` ones never answer."""

    def __init__(self, angles_rad: Mapping[int, float]) -> None:
        self.angles_rad = dict(angles_rad)
        self.buttons = 0
        self.silent: set[int] = set()

    def answers(self, frame_id: int, data: bytes) -> list[tuple[int, bytes]]:
        """Ids and bytes of what all devices answer to one frame."""
        if frame_id != REQUEST_ID or len(data) < 2:
            return []
        devices = [d for d in self.angles_rad if data[0] in (d, _ALL) and d not in self.silent]
        return [answer for device in devices if (answer := self._answer(device, data[1])) is not None]

    def _answer(self, device: int, command: int) -> tuple[int, bytes] | None:
        if command == _REPORT:
            counts = round(self.angles_rad[device] / (2 * pi) * COUNTS_PER_TURN)
            wrapped = (counts + 2**15) % 2**16 - 2**15
            return REPORT_ID, struct.pack("!BhhB", device, wrapped, 0, self.buttons)
        if command == _VERSION:
            return REQUEST_ID, bytes((device, _VERSION | _ANSWER, *_FIRMWARE))
        if command == _EEPROM:
            return REQUEST_ID, bytes((device, _EEPROM | _ANSWER, 0))
        return None
