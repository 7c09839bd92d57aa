"""What was measured becomes what safety keeps to, in the station file that a person wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibration.commands import app
from calibration.section import store
from calibration.toml_lines import changed
from calibration.workspace import proposed
from contract.errors import ConfigurationError, StationError
from contract.space import Space
from contract.station import STATIONS, Station, load_station
from contract.toml import parsed_toml
from robot_client.safety.limits import limits_of

TILT = 0.01
EYE = {"method": "made up", "date": "2026-01-31", "poses": 20, "held_out_mm": 0.5, "held_out_deg": 0.1}
BASE = {**EYE, "parent": "left_base", "position_m": [0.004, -0.6201, 0.002], "rotation_rad": [0.0, 0.0, 0.03]}
TABLE = {
    "normal": [float(np.sin(TILT)), 0.0, float(np.cos(TILT))], "offset_m": -0.0123, "method": "made up",
    "date": "2026-01-31", "held_out_mm": 0.5,
}  # fmt: skip


@pytest.fixture
def station(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text((STATIONS / "yam_example.toml").read_text(encoding="utf-8"), encoding="utf-8")
    store(str(path), None, {"right_base": BASE, "table": TABLE})
    return path


def _space(station: Station) -> Space:
    assert station.safety.space is not None
    return station.safety.space


def test_bases_and_table_are_where_safety_reads_them_and_every_other_line_stays(station: Path) -> None:
    before = station.read_text(encoding="utf-8").splitlines()
    app.cli(args=["workspace", "--station", str(station), "--yes", "--thickness-m", "0.003"])
    loaded = load_station(str(station))
    space = _space(loaded)
    assert space.right.position_m == (0.004, -0.6201, 0.002) and space.right.yaw_rad == 0.03
    assert space.table.offset_m == pytest.approx(-0.0153) and space.table.normal[0] == pytest.approx(0.01, abs=1e-5)
    limits = limits_of(loaded.safety, 0.01)
    np.testing.assert_allclose(limits.space.bases[1, :3, 3], [0.004, -0.6201, 0.002])
    after = station.read_text(encoding="utf-8").splitlines()
    new = [line for line in after if line not in before]
    assert len(new) == 4 and all("# measured 2" in line and "MEASURE" not in line for line in new if "#" in line)
    assert sum("MEASURE" in line for line in before) == sum("MEASURE" in line for line in after) + 1


def test_without_a_person_who_agrees_nothing_is_written(
    station: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = station.read_bytes()
    for answer in ("no", "y", ""):
        monkeypatch.setattr("builtins.input", lambda prompt, answer=answer: answer)
        app.cli(args=["workspace", "--station", str(station)])
    assert station.read_bytes() == before
    assert "[safety.space.right] yaw_rad: 0 -> 0.03" in capsys.readouterr().out


def test_the_box_holds_every_place_the_tools_reached_with_a_margin(station: Path) -> None:
    loaded = load_station(str(station))
    home, park = loaded.poses.home.vector(), loaded.poses.park.vector()
    tight, wide = (
        proposed(loaded, 0.0, np.array([home, park]), margin).changes[("safety", "space", "box")]
        for margin in (0.0, 0.1)
    )
    for key, sign in (("lower_m", -1.0), ("upper_m", 1.0)):
        np.testing.assert_allclose(np.subtract(wide[key], tight[key]), sign * 0.1, atol=0.002)
    assert tight["upper_m"][1] == pytest.approx(0.0, abs=0.02), "the left arm points forward from its base"
    assert tight["lower_m"][1] == pytest.approx(-0.6201, abs=0.03), "and the right one from where it was measured"


def test_arms_can_still_go_home_and_park_or_a_person_is_told(station: Path) -> None:
    """A box of one small motion alone would keep the arms from their own poses."""
    loaded = load_station(str(station))
    away = loaded.poses.home.vector()
    away[[0, 7]] += 0.5
    proposal = proposed(loaded, 0.0, away[np.newaxis], 0.02)
    assert not any("outside the box" in line for line in proposal.lines)
    store(str(station), None, {"table": {**TABLE, "offset_m": 0.6}})
    assert any(
        "pose home the left tool" in line and "table" in line for line in proposed(load_station(str(station))).lines
    )


def test_a_base_that_leans_and_a_station_without_measurements_are_refused(station: Path) -> None:
    store(str(station), None, {"right_base": {**BASE, "rotation_rad": [0.05, 0.0, 0.0]}})
    with pytest.raises(ConfigurationError, match="upright"):
        proposed(load_station(str(station)))
    with pytest.raises(ConfigurationError, match="hand-eye first"):
        proposed(load_station("twin"))


def test_a_wrong_zero_of_joint_1_is_said_before_the_base_is_believed(station: Path) -> None:
    joint = {"offset_rad": 0.05, "uncertainty_rad": 0.005, "against": "the way to the other base"}
    store(str(station), None, {"zeros": {"left": {"joints": {"joint1": joint}, "method": "x", "date": "2026-01-31"}}})
    assert any("WARNING: joint1 of the left arm" in line for line in proposed(load_station(str(station))).lines)


def test_a_value_on_a_line_of_its_own_changes_and_its_comment_stays() -> None:
    text = "[a]  # one\nx = 1.0 # why\ny = [1.0, 2.0]\n\n# about b\n[a.b]\nx = 2.0\n"
    new = changed(text, {("a",): {"x": 5.0, "z": 7.0}}, "measured")
    assert new == "[a]  # one\nx = 5.0 # why\ny = [1.0, 2.0]\nz = 7.0  # measured\n\n# about b\n[a.b]\nx = 2.0\n"
    assert parsed_toml(new)["a"]["b"]["x"] == 2.0


@pytest.mark.parametrize("text", ["a = {x = 1.0}\n", "[a]\nx = [\n 1.0,\n]\n", "[a]\ns = '''\nx = 1.0\n'''\nx = 2.0\n"])
def test_a_file_written_in_another_way_is_left_to_the_person(text: str) -> None:
    with pytest.raises((StationError, ConfigurationError)):
        changed(text, {("a",): {"x": 5.0}}, "measured")
