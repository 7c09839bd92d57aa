"""The file of the engines bench: rows kept as they are measured, and those of earlier calls on the same machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

_KEY: Final = ("size", "graph", "branches", "engine")
_RATES: Final = ("tflop_s", "gb_s")


class Results:
    """`add` writes the whole file, so that an interrupted run keeps what it measured."""

    def __init__(self, out: Path, about: dict[str, Any], earlier: Sequence[dict[str, Any]] = ()) -> None:
        self._out, self._about = out, about
        self._rows = {_key(row): row for row in earlier}

    def add(self, row: dict[str, Any]) -> None:
        """Enter a row; an earlier one of the same thing is replaced."""
        self._rows[_key(row)] = row
        self._out.parent.mkdir(parents=True, exist_ok=True)
        self._out.write_text(json.dumps(self.content, indent=1) + "\n", encoding="utf-8")

    @property
    def content(self) -> dict[str, Any]:
        """Everything, as it is in the file; shares are of the peaks."""
        return {
            **self._about,
            "peaks": self.peaks,
            "rows": [with_shares(row, self.peaks) for row in self._rows.values()],
        }

    @property
    def peaks(self) -> dict[str, Any]:
        """The highest rates that anything reached: the tries at the peak or, where the machine was busy then, a row."""
        measured = [row for row in self._rows.values() if "not_measured" not in row]
        peaks = self._about["peaks"]
        return {**peaks, **{name: max(peaks[name], *(row[name] for row in measured), 0.0) for name in _RATES}}


def with_shares(row: dict[str, Any], peaks: dict[str, Any]) -> dict[str, Any]:
    """A measured row with what it reached of the peaks."""
    if "not_measured" in row:
        return row
    shares = {f"share_of_peak_{name}": row[name] / peaks[name] for name in _RATES}
    return {**row, **shares}


def open_results(out: Path, about: dict[str, Any], same: tuple[str, ...]) -> Results:
    """Rows of an earlier call are kept when the file says the same as `about` under every name in `same`."""
    try:
        before = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = {}
    if not isinstance(before, dict) or any(before.get(name) != about[name] for name in same):
        return Results(out, about)
    # What a machine can do at most is the most it was ever seen to do: on a busy one a single try says little.
    peaks = {name: max(about["peaks"][name], before["peaks"][name]) for name in _RATES}
    return Results(out, {**about, "peaks": {**about["peaks"], **peaks}}, before["rows"])


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _KEY)
