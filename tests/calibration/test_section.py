"""The `[calibration]` section of a station file."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration.board import Board
from calibration.drift import board_fault
from calibration.section import store
from contract.calibration import Calibration
from contract.camera_info import camera_numbers
from contract.errors import StackError, StationError
from contract.station import STATIONS, load_station

LENS = {
    "width": 640, "height": 480, "fx": 600.0, "fy": 610.0, "cx": 319.5, "cy": 239.5,
    "distortion": [0.1, 0.0, 0.0, 0.0, 0.0], "method": "ChArUco", "date": "2026-01-31", "views": 20, "rms_px": 0.1,
    "held_out_px": 0.12, "covered": 0.8,
}  # fmt: skip
LATENCY = {
    "latency_ms": 33.0,
    "uncertainty_ms": 2.0,
    "correlation": 0.99,
    "method": "correlation",
    "date": "2026-01-31",
}
BOARD = Board(columns=7, rows=5, square_m=0.03, marker_m=0.022)


@pytest.fixture
def station(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text((STATIONS / "yam_example.toml").read_text(encoding="utf-8"), encoding="utf-8")
    return path


def test_what_was_measured_is_added_and_what_a_person_wrote_stays(station: Path) -> None:
    before = station.read_text(encoding="utf-8")
    first = store(str(station), None, {"intrinsics": {"top": LENS}})
    second = store(str(station), None, {"latencies": {"cameras": {"left_wrist": LATENCY}}})
    assert station.read_text(encoding="utf-8").startswith(before.rstrip())
    assert second.calibration is not None and second.calibration.intrinsics["top"].fx == 600.0
    assert first.sha256() != second.sha256()


def test_a_calibrated_latency_is_where_readers_of_cameras_look_for_it(station: Path) -> None:
    store(str(station), None, {"latencies": {"cameras": {"top": LATENCY}}})
    assert {camera.role: camera.latency_ms for camera in load_station(str(station)).cameras}["top"] == 33.0


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"intrinsics": {"top": {**LENS, "fz": 1.0}}}, "intrinsics.top.fz"),
        ({"intrinsics": {"top": {k: v for k, v in LENS.items() if k != "cy"}}}, "intrinsics.top.cy"),
        ({"intrinsics": {"attic": LENS}}, "attic"),
        ({"mount": {}}, "calibration.mount"),
    ],
)
def test_unknown_and_missing_keys_are_refused_by_name_and_nothing_is_written(
    station: Path, changes: dict, key: str
) -> None:
    before = station.read_bytes()
    with pytest.raises(StationError, match=key.replace(".", r"\.")):
        store(str(station), None, changes)
    assert station.read_bytes() == before and list(station.parent.iterdir()) == [station]


def test_a_station_file_with_an_unknown_key_in_its_calibration_does_not_load(station: Path) -> None:
    store(str(station), None, {"intrinsics": {"top": LENS}})
    station.write_text(station.read_text(encoding="utf-8") + "\nfocus = 3\n", encoding="utf-8")
    with pytest.raises(StackError, match=r"intrinsics\.top\.focus"):
        load_station(str(station))


def test_camera_info_has_the_lens_at_the_resolution_of_the_stream(station: Path) -> None:
    text = station.read_text(encoding="utf-8").replace("height = 480\nwidth = 640", "height = 240\nwidth = 320", 1)
    station.write_text(text, encoding="utf-8")
    loaded = store(str(station), None, {"intrinsics": {"top": LENS}})
    top, wrist = (next(c for c in loaded.cameras if c.role == role) for role in ("top", "left_wrist"))
    numbers = camera_numbers(loaded, top)
    assert numbers is not None and (numbers.width, numbers.k[0], numbers.p[5]) == (320, 300.0, 305.0)
    assert numbers.k[2] == pytest.approx(159.5) and camera_numbers(loaded, wrist) is None


def test_a_calibration_made_with_another_board_is_flagged() -> None:
    """B48: setting stored in the calibration file; a file made with another setting is flagged."""
    stored = Calibration.model_validate({"format": 1, "board": BOARD.model_dump()})
    assert board_fault(stored, BOARD) == ""
    assert "layout standard then, legacy now" in board_fault(stored, BOARD.variant(layout="legacy"))
