"""What a latency bench is started with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from contract.errors import ConfigurationError
from robot_client.demo.settings import RunSettings
from robot_client.process_config import RigKind

EXAMPLE: Final = "yam_example"
_MOST_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class LatencySettings:
    """One measurement of the whole line."""

    rig: RigKind
    station: str
    """Empty, for rig "yam": the example station on emulated motors."""
    server: str
    """Address of a running policy server; empty: serve `bundle` for the time of the bench."""
    bundle: Path | None
    instruction: str
    seconds: float
    start_every_s: float
    """Between two starts from rest."""
    seed: int
    out: Path
    """Folder for logs."""
    warm_up: int = 3
    """First replans that are reported apart."""

    def check(self) -> None:
        """Raises `ConfigurationError` for what cannot be measured."""
        for name, value in (("seconds", self.seconds), ("start_every_s", self.start_every_s)):
            if not (math.isfinite(value) and 1.0 <= value <= _MOST_S):
                raise ConfigurationError(name, expected=f"1 to {_MOST_S:g}", got=value)
        replace(self, station=self.station or EXAMPLE).run_settings().check()

    def run_settings(self) -> RunSettings:
        """For the processes of the line."""
        return RunSettings(
            rig=self.rig,
            station=self.station,
            bundle=None if self.server else self.bundle,
            server=self.server,
            instruction=self.instruction,
            seconds=self.seconds,
            seed=self.seed,
            guidance="adaptive",
            out=self.out,
            headless=True,
            imagine_every_s=0.0,
        )
