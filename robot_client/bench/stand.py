"""What a loop is benched on: the ideal rig, or two holders on emulated motors through the real driver."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Literal

from contract.errors import ConfigurationError
from contract.station import STATIONS
from robot_client.clock import NS_PER_S

BenchRig = Literal["ideal", "yam"]
LOOP_HZ: Final = 100.0
_FILES: Final = {"ideal": "twin", "yam": "yam_example"}
_CHANGES: Final = (
    (r'^bus = "socketcan"', 'bus = "emulated"'),
    # A busy bench is late now and then; that is measured, and must not end the window in HOLD.
    (r"^joints_max_age_ms = .*$", "joints_max_age_ms = 500.0"),
    (r"^heartbeat_ms = [0-9.]+", "heartbeat_ms = 200.0"),
    (r"^driver_ms = .*$", "driver_ms = 2000.0"),
    (r"^tracking_ms = .*$", "tracking_ms = 5000.0"),
)


class Stand:
    """A context: the station file, and for "yam" both arms held. `loop_hz` replaces the station's."""

    def __init__(self, folder: Path, rig: BenchRig = "ideal", loop_hz: float = LOOP_HZ) -> None:
        if not 10.0 <= loop_hz <= 1000.0:
            raise ConfigurationError("hz", expected="10 to 1000", got=loop_hz)
        self.rig, self.loop_hz = rig, loop_hz
        self._path = folder / f"bench_{rig}.toml"
        self._run_dir = folder / "arms"
        self._pids: list[int] = []

    @property
    def station(self) -> str:
        """Path of the station file."""
        return str(self._path)

    @property
    def run_dir(self) -> str:
        """Folder of the holders' mailboxes; empty for the ideal rig."""
        return str(self._run_dir) if self.rig == "yam" else ""

    @property
    def period_ns(self) -> int:
        """Of the loop."""
        return int(NS_PER_S / self.loop_hz)

    def __enter__(self) -> Stand:
        text = (STATIONS / f"{_FILES[self.rig]}.toml").read_text(encoding="utf-8")
        for pattern, line in (*_CHANGES, (r"^loop_hz = .*$", f"loop_hz = {self.loop_hz}")):
            text = re.sub(pattern, line, text, flags=re.MULTILINE)
        self._path.write_text(text, encoding="utf-8")
        if self.rig == "yam":
            from robot_client.holder.start import start_holders

            self._run_dir.mkdir()
            started = start_holders(self.station, self.run_dir)
            self._pids = [holder.pid for holder in started.values()]
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for pid in self._pids:  # holders of emulated arms, which may fall
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
