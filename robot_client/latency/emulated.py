"""The shipped example station on emulated motors, held for the time of a bench: the path of real arms without arms."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from contract.station import STATIONS
from robot_client.holder.start import start_holders
from robot_client.latency.settings import EXAMPLE, LatencySettings

_EXAMPLE: Final = STATIONS / f"{EXAMPLE}.toml"
_END_S: Final = 3.0


@contextmanager
def emulated_arms(settings: LatencySettings) -> Iterator[LatencySettings]:
    """The settings with a station file of emulated arms, whose holders run until the block ends."""
    station = write_station(settings.out)
    started = start_holders(str(station))
    try:
        yield replace(settings, station=str(station))
    finally:
        _end([holder.pid for holder in started.values() if not holder.adopted])


def write_station(out: Path) -> Path:
    """The example station with its bus emulated and a name of its own, which gives its holders a folder of theirs."""
    out.mkdir(parents=True, exist_ok=True)
    text = _EXAMPLE.read_text(encoding="utf-8")
    for old, new in (
        ('bus = "socketcan"', 'bus = "emulated"'),
        ('name = "yam_example"', f'name = "yam_emulated_{os.getpid()}"'),
    ):
        text = text.replace(old, new)
    path = (out / "yam_emulated.toml").absolute()
    path.write_text(text, encoding="utf-8")
    return path


def _end(pids: list[int]) -> None:
    """No arm hangs on these holders, so they are simply ended."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until_s = time.monotonic() + _END_S
    for pid in pids:
        while time.monotonic() < until_s and _is_there(pid):
            time.sleep(0.01)


def _is_there(pid: int) -> bool:
    with suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG) == (0, 0)
    return False
