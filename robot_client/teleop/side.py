"""A leader's process as its supervisor has it, and what the loop must know of it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from contract.errors import ConfigurationError
from contract.station import Station
from robot_client.demo.children import Child, start_child
from robot_client.teleop.keyboard import KEYS
from robot_client.teleop.leader import Align, LeaderKind

_ALIGN: Final[dict[LeaderKind, Align]] = {
    "keyboard": "leader",
    "scripted": "leader",
    "gello": "follower",
    "yam": "leader",
}
START_S: Final = 30.0
"""i2rt checks a leader's motors and encoders first, with waits of its own of some seconds."""
_END_S: Final = 2.0


class LeaderSide:
    """`start` before the loop starts, `close` after it has ended."""

    def __init__(self, kind: LeaderKind, station_name: str, folder: Path) -> None:
        self.kind, self._station_name, self._folder = kind, station_name, folder
        self._child: Child | None = None

    @property
    def config(self) -> dict[str, Any]:
        """Of `LoopConfig`."""
        return {"leader": self.kind, "leader_align": _ALIGN[self.kind], "leader_dir": str(self._folder)}

    def start(self, logs: Path) -> None:
        """Raises `RigError` with its last words when it does not read."""
        args = ["--station", self._station_name, "--leader", self.kind, "--folder", str(self._folder)]
        self._child = start_child("leader", ["robot_client.teleop", *args], logs, eof=True)
        self._child.wait_for_line("READY", START_S)
        if self._child.process.stdin is not None:
            os.set_blocking(self._child.process.stdin.fileno(), False)

    def press(self, key: str) -> bool:
        """A key for the keyboard; whether it is one of its keys. Never waits."""
        if self.kind != "keyboard" or key not in KEYS:
            return False
        if self._child is not None and self._child.process.stdin is not None:
            with suppress(OSError):  # it is gone, which `require_running` says, or so far behind that keys are dropped
                os.write(self._child.process.stdin.fileno(), key.encode("ascii"))
        return True

    def require_running(self) -> None:
        """Raises `RigError` with its last words when it has died."""
        if self._child is not None:
            self._child.require_running()

    def close(self, timeout_s: float = _END_S) -> None:
        """Ends the process."""
        if self._child is not None:
            self._child.end(timeout_s)


def present(kind: LeaderKind | None, terminal: bool, station: Station) -> LeaderKind | None:
    """The leader a run really gets: a keyboard only where somebody can type, and where no dead-man is asked for."""
    unusable = kind == "keyboard" and (not terminal or station.teleop.dead_man)
    return None if unusable else kind


def required(kind: LeaderKind | None, terminal: bool, station: Station) -> LeaderKind:
    """The same for a run that has nothing else to drive. Raises `ConfigurationError` saying what is missing."""
    there = present(kind, terminal, station)
    if there is None:
        raise ConfigurationError(
            f"leader {kind}",
            expected="a terminal to type at, and a station without teleop.dead_man",
            got="a terminal" if terminal else "no terminal",
            remedy="use another --leader",
        )
    return there
