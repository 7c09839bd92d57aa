"""Kinds of DM motors: scales of their frames and their gear ratio, which is what tells them apart on the bus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from contract.errors import ConfigurationError

KP_MAX: Final = 500.0
KD_MAX: Final = 5.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Ranges of a motor's MIT frames: registers PMAX, VMAX, TMAX; and its gear ratio, register Gr."""

    position_rad: float
    velocity_rad_s: float
    torque_nm: float
    gear: float


KINDS: Final[Mapping[str, Scale]] = {
    "DM4340": Scale(12.5, 10.0, 28.0, 40.0),
    "DM4310": Scale(12.5, 30.0, 10.0, 10.0),
    "DM3507": Scale(12.5, 50.0, 5.0, 7.0),
}
"""Numbers of the DM manuals; tests compare them with i2rt's."""


def scale_of(kind: str) -> Scale:
    """Raises `ConfigurationError` with the known kinds."""
    if kind not in KINDS:
        raise ConfigurationError("motor type", expected=f"one of {', '.join(KINDS)}", got=kind, remedy="check its name")
    return KINDS[kind]
