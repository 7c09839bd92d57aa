"""The file of the engines bench: rows kept as they are measured, and those of earlier calls on the same machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

_KEY: Final = ("size", "graph", "branches", "engine")


class Results:
    """`add` writes the whole file, so that an interrupted run keeps what it measured."""

    def __init__(self, out: Path, about: dict[str, Any], earlier: list[dict[str, Any]]) -> None:
        self._out, self._about = out, about
        self._rows = {_key(row): row for row in earlier}

    def add(self, row: dict[str, Any]) -> None:
        """Enter a row; an earlier one of the same thing is replaced."""
        self._rows[_key(row)] = row
        self._out.parent.mkdir(parents=True, exist_ok=True)
        self._out.write_text(json.dumps(self.content, indent=1) + "\n", encoding="utf-8")

    @property
    def content(self) -> dict[str, Any]:
        """Everything, as it is in the file."""
        return {**self._about, "rows": list(self._rows.values())}


def open_results(out: Path, about: dict[str, Any], same: tuple[str, ...]) -> Results:
    """Rows of an earlier call are kept when the file says the same as `about` under every name in `same`."""
    try:
        before = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = {}
    usable = isinstance(before, dict) and all(before.get(name) == about[name] for name in same)
    return Results(out, about, before["rows"] if usable else [])


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _KEY)
