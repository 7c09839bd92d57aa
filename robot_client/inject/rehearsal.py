"""The supervisor's part of injected faults: says when it engaged, and does to whole processes what was asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from contract.station import Station
from robot_client.clock import NS_PER_S
from robot_client.demo.children import Child
from robot_client.inject.checked import checked_faults
from robot_client.inject.effects import EffectsSeen
from robot_client.inject.processes import ProcessFaults
from robot_client.inject.since import EngagedMark


class Rehearsal:
    """Does nothing for an empty text. Raises `ConfigurationError` for a text or a rig that will not do."""

    def __init__(self, text: str, seed: int, rig: str, station: Station, say: Callable[[str], None]) -> None:
        self._text, self._seed, self._say = text, seed, say
        self._all = checked_faults(text, rig, [camera.role for camera in station.cameras])
        self._faults = ProcessFaults(self._all, say)
        self._effects: EffectsSeen | None = None
        self._mark: EngagedMark | None = None
        self._engaged_ns = 0

    def config(self, run_dir: Path) -> dict[str, str | int]:
        """Keys of `RigConfig` for the processes of the run."""
        if not self._text:
            return {}
        self._mark, self._effects = EngagedMark(run_dir), EffectsSeen(run_dir, self._all)
        return {"inject": self._text, "inject_seed": self._seed, "inject_dir": str(run_dir)}

    def engaged(self) -> None:
        """A person has engaged the policy: times of faults count from now."""
        if self._mark is not None:
            self._engaged_ns = time.monotonic_ns()
            self._mark.put(self._engaged_ns)

    def step(self, children: Mapping[str, Child | None]) -> None:
        """Do to "server" and "planner" what is due, and say what has begun anywhere; call it often."""
        if self._engaged_ns:
            self._faults.step((time.monotonic_ns() - self._engaged_ns) / NS_PER_S, children)
        if self._effects is not None and self._engaged_ns:
            for line in self._effects.news(self._engaged_ns):
                self._say(line)

    def killed(self, name: str) -> bool:
        """Whether that process was ended by a fault, so that nobody may expect it to run."""
        return name in self._faults.killed

    def end(self) -> None:
        """Let frozen processes go on, and give the mark up."""
        self._faults.end()
        if self._mark is not None:
            self._mark.close()
        if self._effects is not None:
            self._effects.close()
