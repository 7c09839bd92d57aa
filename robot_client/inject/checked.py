"""The faults of a text, once it is clear that they may happen here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from contract.errors import ConfigurationError
from contract.station import Station
from robot_client.inject.fault import Fault
from robot_client.inject.grammar import parse, with_roles
from robot_client.process_config import RigConfig

RIGS: Final = ("sim", "ideal")
"""Where nothing can be hurt."""


def checked_faults(text: str, rig: str, roles: Sequence[str]) -> tuple[Fault, ...]:
    """With whole camera roles. Raises `ConfigurationError` for a text or a rig that will not do."""
    faults = parse(text)
    if faults and rig not in RIGS:
        raise ConfigurationError(
            f"--inject on rig {rig}",
            expected=f"rig {' or '.join(RIGS)}",
            got=rig,
            remedy="faults are rehearsed where no arm can be hurt",
        )
    return with_roles(faults, roles)


def faults_of(config: RigConfig, station: Station) -> tuple[Fault, ...]:
    """Of one process of a run."""
    return checked_faults(config.inject, config.rig, [camera.role for camera in station.cameras])
