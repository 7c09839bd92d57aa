"""What the doctor says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum


class Level(str, Enum):
    """How bad it is. FAIL: do not run."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing looked at, what was found, and the next action (empty for OK)."""

    level: Level
    what: str
    found: str
    action: str = ""

    def __str__(self) -> str:
        return f"{self.level.value:<4}  {self.what}: {self.found}" + (
            f"\n      -> {self.action}" if self.action else ""
        )


def ok(what: str, found: str) -> Line:
    """As it should be."""
    return Line(Level.OK, what, found)


def warn(what: str, found: str, action: str) -> Line:
    """It will run, but somebody should know."""
    return Line(Level.WARN, what, found, action)


def fail(what: str, found: str, action: str) -> Line:
    """Do not run."""
    return Line(Level.FAIL, what, found, action)


def as_json(lines: Sequence[Line]) -> str:
    """For programs: the lines, and whether any of them is a FAIL."""
    return json.dumps({"ok": not failed(lines), "lines": [asdict(line) for line in lines]}, indent=1)


def failed(lines: Sequence[Line]) -> bool:
    """Any FAIL."""
    return any(line.level is Level.FAIL for line in lines)
