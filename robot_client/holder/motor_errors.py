"""Error codes of DM motors in words, each with what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NORMAL: Final = 0x1
WORDS: Final[Mapping[int, tuple[str, str]]] = {
    0x0: ("disabled", "it lost torque by itself or by another program; look for a second program on the bus"),
    NORMAL: ("normal", ""),
    0x8: ("supply voltage too high", "check the power supply; braking may feed back into it"),
    0x9: ("supply voltage too low", "check the power supply, its cable and the emergency stop"),
    0xA: ("current too high", "something blocks the joint or the motor is damaged"),
    0xB: ("driver stage (MOSFET) too hot", "let it cool; hold raised poses for less long"),
    0xC: ("motor windings too hot", "let it cool; hold raised poses for less long"),
    0xD: ("communication lost", "check the CAN cable, its connectors and the emergency stop"),
    0xE: ("overload", "the arm carries too much or pushes against something"),
}
"""Code -> words, remedy. Codes: DM manual, as in i2rt's MotorErrorCode."""


def in_words(code: int) -> str:
    """One line for any code, distinct for each."""
    words, remedy = WORDS.get(code, ("a code that is not in the manual", "note it and power-cycle the arm"))
    return f"error 0x{code:X}, {words}" + (f" ({remedy})" if remedy else "")
