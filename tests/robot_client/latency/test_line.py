"""Crossings, motion and starts on a fake clock, and one short run of the whole line."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from contract.errors import ConfigurationError
from contract.layout import SIZE
from robot_client.demo.children import start_child
from robot_client.latency.command import bench_latency, compare_files, write
from robot_client.latency.motion import Motion, lag_ms, motion_of_positions
from robot_client.latency.result import result_of
from robot_client.latency.settings import LatencySettings
from robot_client.latency.stages import STAGES, server_stages_ns
from robot_client.latency.starts import Starts
from robot_client.latency.table import lines_of
from robot_client.local_messages import LoopStatus, PlanFailure
from tests.robot_client.latency.made import AFTER_MS, MS, WAYS_MS, line
from tests.robot_client.patient import patient_station
from tests.waiting import PATIENCE_S


def test_each_stage_comes_out_as_it_was_put_in() -> None:
    result = result_of(line([10.0] * 8), 400 * MS, warm_up=1)
    stages = {name: figures["p50"] for name, figures in result["stages_ms"].items()}
    assert stages["transport"] == WAYS_MS["transport"]
    assert stages["wait"] == WAYS_MS["wait"]
    assert stages["build"] == pytest.approx(WAYS_MS["build"] + WAYS_MS["check"])
    assert stages["link_out"] + stages["link_back"] == pytest.approx(WAYS_MS["link"])
    assert {name: stages[name] for name in AFTER_MS} == AFTER_MS
    assert set(stages) == set(STAGES) - {"policy", "temporal_ratio", "guidance"}, "what the server named"
    assert result["from_rest"]["end_to_end_ms"]["count"] == 7
    assert result["chunk_age_ms"]["p50"] == result["to_command_ms"]["p50"], "one tick a chunk"


def test_the_oldest_image_counts() -> None:
    """Of two images the one that waited longer; the other would make the line look faster than it is."""
    crossing = line([10.0]).crossings()[0]
    assert crossing.captured_ns == 10_000 * MS


def test_a_replan_whose_rows_never_ran_is_no_crossing() -> None:
    observed = line([10.0] * 3)
    observed.batches = observed.batches[:-1]
    assert len(observed.crossings()) == 2


def test_without_movement_there_is_no_end_to_end_figure_but_a_count() -> None:
    observed = line([10.0] * 4)
    observed.motion = Motion(np.zeros(0, np.int64), np.zeros(0))
    result = result_of(observed, 400 * MS, warm_up=1)
    assert result["end_to_end_ms"] is None
    assert result["counts"]["without_movement"] == 3
    assert result["stage_sum"]["met"] is None
    assert result["to_command_ms"]["count"] == 3


def test_failed_replans_are_told_apart_by_their_reason() -> None:
    """A bench said "45 failed" and nothing of why."""
    observed = line([10.0] * 3)
    for number in range(45):
        observed.add(PlanFailure(1, number, "rig", f"camera top: one {300 + number} ms old"))
    observed.add(PlanFailure(1, 45, "skipped", "a newer question was there"))
    result = result_of(observed, 400 * MS, warm_up=1)
    assert result["failures"]["rig"] == {"count": 45, "first": "camera top: one 300 ms old"}
    assert result["counts"]["replans_failed"] == sum(entry["count"] for entry in result["failures"].values()) == 46
    assert "failed, rig: 45, first: camera top: one 300 ms old" in lines_of(result)


def test_a_server_that_names_no_stages_has_one() -> None:
    assert server_stages_ns({"total": 50, "queue": 4, "served": 60}) == {"queue": 4, "policy": 56}
    assert server_stages_ns({"total": 50}) == {"policy": 50}


def test_movement_is_the_first_reading_after_the_command_and_not_one_before() -> None:
    motion = Motion(np.arange(10) * MS, np.array([0, 0.5, 0, 0, 0, 0, 0.01, 0.03, 0.5, 0.5]))
    assert motion.first_after(1 * MS) == 7 * MS
    assert motion.first_after(9 * MS) is None
    assert (motion.at_rest(0), motion.at_rest(3 * MS), motion.at_rest(60 * MS)) == (True, False, False)


def test_speeds_from_positions_ignore_readings_that_came_twice() -> None:
    positions = np.zeros((4, SIZE))
    positions[3, 0] = 0.01
    motion = motion_of_positions(np.array([0, 10, 10, 20]) * MS, positions)
    assert motion.stamps_ns.tolist() == [10 * MS, 20 * MS]
    assert motion.speeds_rad_s.tolist() == pytest.approx([0.0, 1.0])


@pytest.mark.parametrize("late_ms", [0, 46, 120])
def test_the_lag_of_measured_behind_told_is_found(late_ms: int) -> None:
    times = np.arange(0, 4000, 10) * MS
    told = np.zeros((len(times), SIZE))
    measured = told.copy()
    told[:, 2] = np.sin(times / 3e8)
    measured[:, 2] = 0.9 * np.sin((times - late_ms * MS) / 3e8)
    found = lag_ms(times, told, times, measured)
    assert found == pytest.approx(late_ms, abs=2.0)
    assert lag_ms(times, told * 0, times, measured) is None


def status(mode: str, at_rest: bool = False, reason: str = "") -> LoopStatus:
    return LoopStatus(0, mode, "", 0, "", reason, -1, "", 0, at_rest, {}, {}, False)


def test_the_arms_are_held_and_engaged_again_only_from_rest() -> None:
    starts = Starts(run_s=2.0)
    assert starts.next_act(status("IDLE"), 0) == "engage"
    assert starts.next_act(status("IDLE"), 10 * MS) is None, "said once"
    assert starts.next_act(status("HANDOFF"), 20 * MS) is None
    assert starts.next_act(status("POLICY"), 30 * MS) is None
    assert starts.next_act(status("POLICY"), 2030 * MS) == "hold"
    assert starts.next_act(status("HOLD", False, "hold by a person"), 2040 * MS) is None
    assert starts.next_act(status("HOLD", False, "hold by a person"), 3000 * MS) is None, "still braking"
    assert starts.next_act(status("HOLD", True), 3400 * MS) is None
    assert starts.next_act(status("HOLD", True), 3500 * MS) == "release"
    assert starts.next_act(status("IDLE"), 3510 * MS) == "engage"
    assert (starts.count, starts.stops) == (2, [])
    starts.next_act(status("HOLD", True, "the plan ran out"), 3600 * MS)
    assert starts.stops == ["HOLD: the plan ran out"]


@pytest.mark.parametrize("reason", ["joints are 60 ms old", "hold by a person"])
def test_on_real_arms_a_stop_that_was_not_asked_for_is_left_only_by_a_person(reason: str) -> None:
    """A bench released and engaged again whatever had stopped the arms, a watchdog or somebody's hold too."""
    starts = Starts(run_s=2.0, attended=True)
    assert starts.next_act(status("IDLE"), 0) == "engage"
    starts.next_act(status("POLICY"), 30 * MS)
    for mode in ("HOLD", "IDLE"):
        for at_ms in range(40, 10_000, 500):
            assert starts.next_act(status(mode, True, reason), at_ms * MS) is None
    assert len(starts.stops) == 1
    asked = Starts(run_s=1.0, attended=True)
    asked.next_act(status("POLICY"), 0)
    assert asked.next_act(status("POLICY"), 1000 * MS) == "hold"
    asked.next_act(status("HOLD", True, "hold by a person"), 1010 * MS)
    assert asked.next_act(status("HOLD", True, "hold by a person"), 1600 * MS) == "release"


@pytest.fixture(scope="module")
def scripted_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if importlib.util.find_spec("onnxruntime") is None:
        pytest.skip("the server's side is not installed")
    sizes = ["--height", "64", "--width", "64", "--latency-ms", "30", "--rows", "numbered"]
    logs = tmp_path_factory.mktemp("logs")
    args = ["policy_server.server.scripted_server", *sizes, "--stop-with-stdin"]
    server = start_child("scripted", args, logs, eof=True)
    yield server.wait_for_line("READY ", PATIENCE_S).split()[1]
    server.end(2.0)


def settings(out: Path, **changes: object) -> LatencySettings:
    values: dict[str, object] = {
        "rig": "ideal", "station": "twin", "server": "tcp://127.0.0.1:1", "bundle": None, "instruction": "go",
        "seconds": 2.5, "start_every_s": 1.0, "seed": 0, "out": out, "warm_up": 1,
    }  # fmt: skip
    return LatencySettings(**{**values, **changes})  # type: ignore[arg-type]


def test_a_short_run_of_the_whole_line_gives_all_keys_and_adds_up(scripted_server: str, tmp_path: Path) -> None:
    """Real loop, planner, link and server processes; the ideal rig and a scripted policy, so that it is quick."""
    result = bench_latency(
        settings(tmp_path / "logs", server=scripted_server, station=str(patient_station(tmp_path))), lambda line: None
    )
    path = tmp_path / "bench" / "latency.json"
    picture = write(result, path)
    kept = json.loads(path.read_text())
    assert {"end_to_end_ms", "stages_ms", "underruns", "openpi_over_ours_p50", "openpi_reason"} <= set(kept)
    assert kept["openpi_over_ours_p50"] is None
    assert kept["end_to_end_ms"]["count"] >= 2
    assert kept["stages_ms"]["policy"]["p50"] >= 30.0, "the script's 30 ms are in no other stage"
    # A busy machine lets time pass between two stages, and more within them.
    assert kept["stage_sum"]["left_over_ms"]["p50"] < max(2.0, 0.1 * kept["end_to_end_ms"]["p50"])
    assert kept["stage_sum"]["negative_stages"] == 0
    assert kept["runs_on"]["gpu"] is False
    assert picture is None or picture.read_bytes().startswith(b"\x89PNG")
    compare_files((path, path))


@pytest.mark.parametrize(
    "change", [{"seconds": 0.2}, {"seconds": float("nan")}, {"start_every_s": 0.0}, {"server": ""}]
)
def test_what_cannot_be_measured_is_refused_before_anything_starts(tmp_path: Path, change: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        bench_latency(settings(tmp_path / "logs", **change), lambda line: None)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_result_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="another file"):
        compare_files((tmp_path / "a.json", tmp_path / "a.json"))
