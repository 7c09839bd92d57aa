"""The day, as the station's section has it. For people; nothing is decided by it."""

from __future__ import annotations

import datetime


def today() -> str:
    """For example "2026-01-31"."""
    return datetime.date.today().isoformat()
