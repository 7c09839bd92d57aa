"""Changing single values of a TOML file that a person wrote: every other line, and every comment, stays as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from calibration.date import today
from calibration.section import replaced
from contract.errors import StationError
from contract.station import Station
from contract.toml import parsed_toml

Value = float | Sequence[float]
Changes = Mapping[tuple[str, ...], Mapping[str, Value]]
"""Table, as the parts of its header -> key -> new value."""

_HEADER: Final = re.compile(r"^\s*\[")
_TO_DO: Final = re.compile(r"#\s*(MEASURE|measured)\b.*$")


def changed_file(path: Path, out: Path | None, changes: Changes, by: str) -> Station:
    """Change the station file at `path`, or write it to `out`, in one step; the station as it loads.

    Raises `StationError` when it cannot be changed by lines or does not load any more, and then nothing is written.
    """
    return replaced(out or path, changed(path.read_text(encoding="utf-8"), changes, f"measured {today()}, {by}"))


def changed(text: str, changes: Changes, note: str) -> str:
    """The file with other values. A comment that asked for the measurement becomes `note`.

    Raises `StationError` naming a table that is not there or is written in a way that cannot be changed by lines, and
    whenever the result would differ in anything else.
    """
    lines = text.splitlines(keepends=True)
    for table, values in changes.items():
        for key, value in values.items():
            lines = _with(lines, table, key, _written(value), note)
    result = "".join(lines)
    if parsed_toml(result) != _wanted(parsed_toml(text), changes):
        raise StationError(
            "the station file", expected="to be changed in these values alone", got="more than that",
            remedy="write them in by hand",
        )  # fmt: skip
    return result


def _with(lines: list[str], table: tuple[str, ...], key: str, value: str, note: str) -> list[str]:
    start, end = _span(lines, table)
    pattern = re.compile(rf"^(\s*{re.escape(key)}\s*=\s*)([^#\n]*?)(\s*#[^\n]*)?\n?$")
    for i in range(start, end):
        found = pattern.match(lines[i])
        if found:
            comment = _TO_DO.sub(f"# {note}", found[3]) if found[3] else ""
            return [*lines[:i], f"{found[1]}{value}{comment}\n", *lines[i + 1 :]]
    while end > start and not lines[end - 1].strip():
        end -= 1  # behind the table's last line, before the blank ones that follow it
    return [*lines[:end], f"{key} = {value}  # {note}\n", *lines[end:]]


def _span(lines: list[str], table: tuple[str, ...]) -> tuple[int, int]:
    name = r"\s*\.\s*".join(re.escape(part) for part in table)
    header = re.compile(rf"^\s*\[\s*{name}\s*\]\s*(#.*)?$")
    starts = [i for i, line in enumerate(lines) if header.match(line.rstrip("\n"))]
    if len(starts) != 1:
        raise StationError(
            f"[{'.'.join(table)}]", expected="one such table in the station file", got=f"{len(starts)}",
            remedy="write it as in calibration/stations/yam_example.toml",
        )  # fmt: skip
    after = [i for i in range(starts[0] + 1, len(lines)) if _HEADER.match(lines[i])]
    end = after[0] if after else len(lines)
    while end > starts[0] + 1 and lines[end - 1].lstrip().startswith("#"):
        end -= 1  # comments above the next header belong to it
    return starts[0] + 1, end


def _written(value: Value) -> str:
    if isinstance(value, int | float):
        return repr(float(value))
    return f"[{', '.join(repr(float(one)) for one in value)}]"


def _wanted(document: dict[str, Any], changes: Changes) -> dict[str, Any]:
    for table, values in changes.items():
        place = document
        for part in table:
            place = place[part]
        place.update({key: v if isinstance(v, int | float) else [float(one) for one in v] for key, v in values.items()})
    return document
