"""The station of the rehearsal: the twin's on the ideal rig, with short plans, so that a round is about a second."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from contract.station import STATIONS

GRACE_MS: Final = 150.0
_CHANGES: Final = (
    ("loop_hz", "100.0"),
    ("grace_ms", str(GRACE_MS)),
    ("joints_max_age_ms", "200.0"),
    ("camera_max_age_ms", "100.0"),
    ("answer_budget_ms", "100.0"),
    ("replan_rows", "3"),
)


def write_station(folder: Path) -> str:
    """Path of the file."""
    text = (STATIONS / "twin.toml").read_text(encoding="utf-8")
    for name, value in _CHANGES:
        text = re.sub(rf"^{name} = .*$", f"{name} = {value}", text, flags=re.MULTILINE)
    path = folder / "rehearsal.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)
