"""The supervisor's part of injected faults: says when it engaged, and does to whole processes what was asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from contract.station import Station
from robot_client.demo.children import Child
from robot_client.inject.checked import checked_faults
from robot_client.inject.processes import ProcessFaults
from robot_client.inject.since import EngagedMark


class Rehearsal:
    """Does nothing for an empty text. Raises `ConfigurationError` for a text or a rig that will not do."""

    def __init__(self, text: str, seed: int, rig: str, station: Station, say: Callable[[str], None]) -> None:
        self._text, self._seed = text, seed
        self._faults = ProcessFaults(checked_faults(text, rig, [camera.role for camera in station.cameras]), say)
        self._mark: EngagedMark | None = None
        self._engaged_s = 0.0

    def config(self, run_dir: Path) -> dict[str, str | int]:
        """Keys of `RigConfig` for the processes of the run."""
        if not self._text:
            return {}
        self._mark = EngagedMark(run_dir)
        return {"inject": self._text, "inject_seed": self._seed, "inject_dir": str(run_dir)}

    def engaged(self) -> None:
        """A person has engaged the policy: times of faults count from now."""
        if self._mark is not None:
            self._mark.put(time.monotonic_ns())
            self._engaged_s = time.monotonic()

    def step(self, children: Mapping[str, Child | None]) -> None:
        """Do to "server" and "planner" what is due; call it often."""
        if self._engaged_s:
            self._faults.step(time.monotonic() - self._engaged_s, children)

    def killed(self, name: str) -> bool:
        """Whether that process was ended by a fault, so that nobody may expect it to run."""
        return name in self._faults.killed

    def end(self) -> None:
        """Let frozen processes go on, and give the mark up."""
        self._faults.end()
        if self._mark is not None:
            self._mark.close()
