"""Station files: what is missing, unknown or contradictory is refused with its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.errors import ConfigurationError, StationError
from contract.station import STATIONS, load_station

TWIN = (STATIONS / "twin.toml").read_text()


def _load(folder: Path, text: str) -> None:
    file = folder / "here.toml"
    file.write_text(text)
    load_station(str(file))


def test_the_shipped_stations_load() -> None:
    names = [path.stem for path in STATIONS.glob("*.toml")]
    assert "twin" in names
    assert {load_station(name).name for name in names} == set(names)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(StationError, match="twin"):
        load_station("nowhere")


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('rig = "sim"', 'rig = "sim"\ncolour = 1', "colour"),
        ("lead_rad = 0.35\n", "", "safety.lead_rad"),
        ("lead_rad = 0.35", "lead_rad = nan", "safety.lead_rad"),
        ("tool_speed_m_s = 2.0", 'tool_speed_m_s = "fast"', "safety.tool_speed_m_s"),
        ("lower_rad = [-2.56, 0.0", "lower_rad = [9.0, 0.0", "safety.left"),
        ("left_rad = [0.75, 0.2", "left_rad = [9.75, 0.2", "pose park"),
        ('device = "twin:left_wrist"', 'device = "twin:top"', "share a device"),
        ('role = "left_wrist"', 'role = "top"', "share a role"),
        ("loop_hz = 100.0", "loop_hz = 0.0", "timing.loop_hz"),
    ],
)
def test_a_faulty_file_is_refused_with_the_key(tmp_path: Path, old: str, new: str, key: str) -> None:
    assert old in TWIN
    with pytest.raises(StationError, match=key):
        _load(tmp_path, TWIN.replace(old, new, 1))


def test_a_file_that_is_no_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="line 1"):
        _load(tmp_path, "format = = 1")
