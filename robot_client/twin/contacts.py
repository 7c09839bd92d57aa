"""Who touches whom, and how stiffly: shared by fingers, things and places.

Bits: 1 = fixed (table, places), 2 = things, 4 = fingers. Fixed parts never meet each other, nor do fingers meet
fingers.
"""

from __future__ import annotations

from typing import Final

SOLREF: Final = (0.01, 1.0)
SOLIMP: Final = (0.95, 0.99, 0.001, 0.5, 2.0)

FIXED_BITS: Final = {"contype": 1, "conaffinity": 0}
THING_BITS: Final = {"contype": 2, "conaffinity": 1 | 2 | 4}
PAD_BITS: Final = {"contype": 4, "conaffinity": 1}
UNTOUCHABLE: Final = {"contype": 0, "conaffinity": 0}
