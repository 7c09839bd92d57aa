"""Writing the `[calibration]` section of a station file: everything before it stays as a person wrote it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

import tomli_w
from pydantic import ValidationError

from contract.calibration import Calibration
from contract.errors import StationError
from contract.station import STATIONS, Station, load_station
from contract.toml import read_toml

_HEADER: Final = re.compile(r"^\s*\[\[?\s*([A-Za-z0-9_-]+)", re.MULTILINE)
_MARK: Final = "# Written by yam-calibrate; everything from here on is replaced by it."


def station_path(name_or_path: str) -> Path:
    """The file behind a name or path that `load_station` takes."""
    path = Path(name_or_path)
    return path if path.suffix == ".toml" else STATIONS / f"{name_or_path}.toml"


def store(source: str, out: Path | None, changes: dict[str, Any]) -> Station:
    """Merge `changes` (nested, by key) into the section of station `source` and write the whole to `out`.

    Without `out` the station's own file is written, in one step: a reader sees the old file or the new one. Returns the
    station as it loads. Raises `StationError` naming the key at fault, and then nothing is written.
    """
    station = load_station(source)  # a file that does not load is not added to
    path = station_path(source)
    before = dict(read_toml(path).get("calibration") or {"format": 1})
    section = merged(before, changes)
    _checked(section, station)
    text = f"{_without_section(path)}\n{_MARK}\n{tomli_w.dumps({'calibration': section})}"
    return replaced(out or path, text)


def replaced(target: Path, text: str) -> Station:
    """Write a station file in one step; the station as it loads. One that does not load leaves the old file."""
    scratch = target.with_name(f".{target.stem}.{os.getpid()}.toml")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(text, encoding="utf-8")
        load_station(str(scratch))
        os.replace(scratch, target)
    except OSError as error:
        raise StationError(
            f"{target}", expected="a file that can be written", got=error.strerror, remedy="give another --out"
        ) from error
    finally:
        scratch.unlink(missing_ok=True)
    return load_station(str(target))


def merged(before: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """`changes` over `before`; tables are merged, but a table that says how it was measured is replaced whole."""
    result = dict(before)
    for key, value in changes.items():
        old = result.get(key)
        whole = not isinstance(value, dict) or not isinstance(old, dict) or "method" in value
        result[key] = value if whole else merged(old or {}, value)
    return result


def _checked(section: dict[str, Any], station: Station) -> None:
    try:
        found = Calibration.model_validate(section)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"])
        raise StationError(f"calibration.{key}", expected=fault["msg"], got=repr(fault.get("input"))[:80]) from error
    unknown = found.roles() - {camera.role for camera in station.cameras}
    if unknown:
        raise StationError("calibration", expected="cameras of the station", got=sorted(unknown), remedy="check roles")


def _without_section(path: Path) -> str:
    """The file up to the section. Raises `StationError` when something a person wrote comes after it."""
    text = path.read_text(encoding="utf-8")
    headers = list(_HEADER.finditer(text))
    ours = [i for i, header in enumerate(headers) if header.group(1) == "calibration"]
    if not ours:
        return text.rstrip() + "\n"
    if any(header.group(1) != "calibration" for header in headers[ours[0] :]):
        raise StationError(
            f"{path.name}", expected="[calibration] as the last section", got="others after it", remedy="move it down"
        )
    return text[: headers[ours[0]].start()].replace(_MARK, "").rstrip() + "\n"
