"""`yam-calibrate` as a person types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration.cli import main
from calibration.commands import app
from contract.errors import ConfigurationError, RigError


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


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("columns = 14\nrows = 12\nsquare_m = 0.02\nmarker_m = 0.015\ndictionary = 'DICT_4X4_50'\n", "need 84 markers"),
        ("columns = 5\nrows = 7\nsquare_m = 0.02\nmarker_m = 0.03\n", "does not fit into square_m"),
        ("columns = 5\nrows = 7\nsquare_m = 0.02\n", "marker_m, expected Field required"),
        ("columns = 5\nrow = 7\nsquare_m = 0.02\nmarker_m = 0.01\n", "row"),
        ("columns = \n", "TOML"),
    ],
)
def test_a_board_file_that_describes_no_board_is_refused_with_the_key(tmp_path: Path, lines: str, words: str) -> None:
    file = tmp_path / "board.toml"
    file.write_text(lines, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=words.replace(", ", ".*")):
        app.cli(args=["board", str(file), "--out", str(tmp_path / "board.png")])


@pytest.mark.parametrize("out", ["board.svg", "/proc/nowhere/board.png"])
def test_a_board_that_cannot_be_written_there_is_refused_in_one_line(tmp_path: Path, out: str) -> None:
    with pytest.raises(ConfigurationError, match=r"another --out|its ending"):
        app.cli(args=["board", "--out", str(tmp_path / out)])


def test_the_options_of_stations_and_views_are_written_once() -> None:
    """They were written three times, and one of them was wrong."""
    source = (Path(__file__).parents[2] / "calibration").glob("*.py")
    texts = {path.name: path.read_text(encoding="utf-8") for path in source}
    assert [name for name, text in texts.items() if "Folder of views for --rig data" in text] == ["asked.py"]


@pytest.mark.parametrize("command", ["intrinsics", "hand-eye", "check"])
def test_cameras_that_the_station_does_not_have_are_refused_before_anything_moves(command: str, tmp_path: Path) -> None:
    from contract.station import STATIONS

    file = tmp_path / "one.toml"
    text = (STATIONS / "twin.toml").read_text(encoding="utf-8")
    head, _, tail = text.partition('[[cameras]]\nrole = "left_wrist"')
    file.write_text(head + tail[tail.index("[[cameras]]") :], encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"left_wrist|calibrate first"):
        app.cli(args=[command, "--station", str(file), "--roles", "left_wrist"])


@pytest.mark.parametrize("command", ["intrinsics", "arms", "latency", "check"])
def test_real_arms_need_a_board_file_before_anything_starts(command: str, tmp_path: Path) -> None:
    from calibration.section import store
    from contract.station import STATIONS

    file = tmp_path / "real.toml"
    file.write_text((STATIONS / "yam_example.toml").read_text(encoding="utf-8"), encoding="utf-8")
    store(str(file), None, {})
    with pytest.raises(ConfigurationError, match=r"--board|intrinsics"):
        app.cli(args=[command, "--rig", "station", "--station", str(file)])


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (KeyboardInterrupt(), 1, "station file is as it was"),
        (PermissionError(13, "Permission denied", "/root/out"), 1, "/root/out: Permission denied"),
        (ConfigurationError("--views", got="none"), 2, "--views"),
        (RigError("left arm", got="silence"), 1, "left arm"),
    ],
)
def test_whatever_ends_a_command_is_one_line_and_an_exit_code(
    raised: BaseException, code: int, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(prog: str) -> None:
        raise raised

    monkeypatch.setattr(app, "cli", command)
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == code and words in said and said.count("\n") == 1
