"""`yam-calibrate` as a person types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration.commands import app
from contract.errors import ConfigurationError


def test_a_board_of_a_file_is_printed_at_its_true_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "board.toml"
    file.write_text("columns = 8\nrows = 6\nsquare_m = 0.025\nmarker_m = 0.018\n", encoding="utf-8")
    app.cli(args=["board", str(file), "--out", str(tmp_path / "board.png")])
    assert "220.0 x 170.0 mm" in capsys.readouterr().out and (tmp_path / "board.png").stat().st_size > 1000


def test_a_station_that_was_never_calibrated_has_nothing_to_check() -> None:
    with pytest.raises(ConfigurationError, match="calibrate first"):
        app.cli(args=["check", "--station", "twin"])


def test_recorded_data_need_a_folder() -> None:
    with pytest.raises(ConfigurationError, match="--data"):
        app.cli(args=["intrinsics", "--rig", "data", "--station", "twin"])
