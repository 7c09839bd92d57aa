"""What a run is started with, checked before any process exists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from contract.errors import ConfigurationError
from contract.station import load_station
from contract.types import GuidanceMode
from robot_client.demo.choice import choice_of
from robot_client.inject.checked import checked_faults
from robot_client.inject.processes import target_of
from robot_client.process_config import RigKind
from robot_client.teleop.leader import LeaderKind

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
    record_codec: Literal["jpeg", "h264"] = "jpeg"
    """Of full-rate camera frames in the episode."""
    keys: Path | None = None
    """The robot's folder of CURVE keys, for a server that lets in nobody without."""
    inject: str = ""
    """Faults to rehearse (`robot_client.inject.grammar`); empty: none."""
    cameras: Mapping[str, str] = field(default_factory=dict)
    """What a person chose: role -> a camera of the station, or a device as KIND:NAME (`robot_client.demo.choice`)."""
    leader: LeaderKind | None = None
    """What a person's hand moves (`yam-robot teleop`, or keys during a run); None: nothing."""
    teleop_only: bool = False
    """No policy at all."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else is to be kept with the episode."""

    @property
    def policy(self) -> bool:
        """A policy server takes part; without one only a hand drives."""
        return bool(self.server) or self.bundle is not None

    def check(self) -> None:
        """Raises `ConfigurationError` naming the setting that is out of its range."""
        for name, value in (("seconds", self.seconds), ("imagine_every_s", self.imagine_every_s)):
            if not (math.isfinite(value) and 0.0 <= value <= MAX_SECONDS):
                raise ConfigurationError(name, expected=f"0 to {MAX_SECONDS:g}", got=value)
        if not 0 <= self.seed < 2**32:
            raise ConfigurationError("seed", expected="0 to 2^32 - 1", got=self.seed)
        if (self.server and self.bundle is not None) or not (self.policy or self.teleop_only):
            raise ConfigurationError(
                "policy", expected="a bundle or a server", got="both" if self.server else "neither", remedy="give one"
            )
        self._check_with_station()
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

    def _check_with_station(self) -> None:
        """Rig, cameras and faults against what the station has."""
        station = load_station(self.station)
        if self.rig == "yam" and station.arms is None:
            raise ConfigurationError(
                "--station",
                expected="real arms, a section [arms]",
                got=station.name,
                remedy="give your own copy of calibration/stations/yam_example.toml",
            )
        choice_of(self.cameras, station, self.rig)
        faults = checked_faults(self.inject, self.rig, [camera.role for camera in station.cameras])
        foreign = next((fault.text for fault in faults if target_of(fault) == "server"), "")
        if foreign and self.bundle is None:
            raise ConfigurationError(
                f"--inject {foreign!r}",
                expected="a server that this run starts",
                got=f"the server at {self.server}",
                remedy="give --bundle instead of --server, or cut the link: cut@8s",
            )
