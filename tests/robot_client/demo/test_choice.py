"""`--cameras ROLE=SOURCE`: obeyed, or refused in one line before anything starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contract.errors import ConfigurationError
from contract.station import load_station
from robot_client.demo.choice import choice_of, parse_cameras
from robot_client.demo.settings import RunSettings

TWIN, YAM = load_station("twin"), load_station("yam_example")
SETTINGS = RunSettings(
    rig="ideal", station="twin", bundle=None, server="tcp://127.0.0.1:9", instruction="go", seconds=1.0, seed=0,
    guidance="off", out=Path("out"), headless=True, imagine_every_s=0.0,
)  # fmt: skip


def test_a_map_is_obeyed_and_names_the_cameras_it_leaves_out() -> None:
    """B19 (b), (e): an extra camera is ignored, and said so, because a map says so."""
    choice = choice_of(parse_cameras(["top=top", "left_wrist=right_wrist"]), TWIN, "sim")
    assert choice.roles == {"top": "top", "left_wrist": "right_wrist"}
    assert choice.unused(TWIN) == ["left_wrist"]
    assert choice_of({}, TWIN, "sim").unused(TWIN) == []


def test_devices_are_for_real_arms_and_may_stand_beside_a_map() -> None:
    choice = choice_of(parse_cameras(["top=pattern:a", "left_wrist=right_wrist"]), YAM, "yam")
    assert choice.devices == {"top": "pattern:a"}
    assert choice.roles == {"left_wrist": "right_wrist", "top": "top"}
    assert choice_of({"top": "file:a.mp4"}, YAM, "yam").roles == {}
    with pytest.raises(ConfigurationError, match="--rig yam"):
        choice_of({"top": "pattern:a"}, TWIN, "sim")


@pytest.mark.parametrize(
    "pairs", [["top"], ["=top"], ["top="], ["top=top", "top=left_wrist"], ["top=front"], ["top=top", "front=top"]]
)
def test_what_is_no_map_is_refused_in_one_line(pairs: list[str]) -> None:
    """B19 (c), (e): a camera in two roles, a camera that is not there, entries that mean nothing."""
    with pytest.raises(ConfigurationError, match="--cameras") as refused:
        choice_of(parse_cameras(pairs), TWIN, "sim")
    assert "\n" not in str(refused.value)


def test_settings_refuse_faults_and_cameras_before_anything_starts() -> None:
    SETTINGS.check()
    for changes, says in (
        ({"inject": "nan@x"}, "--inject"),
        ({"inject": "kill-server@8s"}, "--bundle"),
        ({"cameras": {"top": "front"}}, "front"),
        ({"rig": "yam"}, "real arms"),
        ({"rig": "yam", "station": "yam_example", "inject": "nan@5s"}, "rig sim or ideal"),
    ):
        with pytest.raises(ConfigurationError, match=says):
            replace(SETTINGS, **changes).check()  # type: ignore[arg-type]
