"""A station whose watchdogs forgive a machine that is slow: for tests of what a run does, not of when."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from contract.station import STATIONS

_TIMING: Final = {
    "grace_ms": 5000.0,
    "joints_max_age_ms": 1000.0,
    "camera_max_age_ms": 5000.0,
    "answer_budget_ms": 5000.0,
}
_WATCHDOGS: Final = """
[watchdogs]
chunk_ms = 60000.0
camera_ms = 10000.0
driver_ms = 2000.0
blocked_ms = 60000.0
tracking_ms = 10000.0
"""


def patient_station(folder: Path) -> Path:
    """The twin's in a file of its own, with the longest times that a station may have."""
    text = (STATIONS / "twin.toml").read_text()
    for name, ms in _TIMING.items():
        text, found = re.subn(rf"^{name} = [0-9.]+", f"{name} = {ms}", text, flags=re.MULTILINE)
        assert found == 1
    assert "[watchdogs]" not in text
    path = folder / "patient.toml"
    path.write_text(text + _WATCHDOGS)
    return path
