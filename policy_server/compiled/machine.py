"""Machine: what this computer would run engines with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """The library that would load the engines, and the card it found."""

    compiler: str
    """Import name of the library."""
    compiler_version: str
    card: str
    """Compute capability of the card, for example sm120; empty where there is none."""
    card_name: str = ""
    driver: str = ""
