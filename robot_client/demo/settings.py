"""What a run is started with, checked before any process exists."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.errors import ConfigurationError
from contract.types import GuidanceMode
from robot_client.process_config import RigKind

MAX_SECONDS: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class RunSettings:
    """One run of the line: rig, policy, and what to leave behind."""

    rig: RigKind
    station: str
    bundle: Path | None
    """Policy folder to serve ourselves; None when `server` is somebody else's."""
    server: str
    """Address of a running server; empty: serve `bundle`."""
    instruction: str
    seconds: float
    """Length from engagement; 0 = until Ctrl-C."""
    seed: int
    guidance: GuidanceMode
    out: Path
    headless: bool
    imagine_every_s: float
    """Between two requests for imagined frames; 0 = none."""
    record: Path | None = None
    """Where episodes lie; None = nothing is recorded."""
    keys: Path | None = None
    """The robot's folder of CURVE keys, for a server that lets in nobody without."""

    def check(self) -> None:
        """Raises `ConfigurationError` naming the setting that is out of its range."""
        for name, value in (("seconds", self.seconds), ("imagine_every_s", self.imagine_every_s)):
            if not (math.isfinite(value) and 0.0 <= value <= MAX_SECONDS):
                raise ConfigurationError(name, expected=f"0 to {MAX_SECONDS:g}", got=value)
        if not 0 <= self.seed < 2**32:
            raise ConfigurationError("seed", expected="0 to 2^32 - 1", got=self.seed)
        if bool(self.server) == (self.bundle is not None):
            raise ConfigurationError(
                "policy", expected="a bundle or a server", got="both" if self.server else "neither", remedy="give one"
            )
        if self.bundle is not None and not (self.bundle / "policy.toml").is_file():
            raise ConfigurationError(
                f"bundle {self.bundle}",
                expected="a folder with policy.toml",
                got="none",
                remedy="run from the repository, or give --bundle",
            )
        if self.keys is not None and not (self.keys / "client.key_secret").is_file():
            raise ConfigurationError(
                f"keys {self.keys}",
                expected="a folder with client.key_secret and server.key",
                got="none",
                remedy="copy the folder client_NAME that `yam-policy keys` made on the server",
            )
