"""The recording bench measures what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contract.errors import ConfigurationError
from robot_client.bench.episodes import Plan, _shares, bench_episodes
from robot_client.bench.process_cost import cpu_s
from robot_client.bench.recorded_line import recorded_line, write_station
from robot_client.bench.recorder_lateness import NOTHING_MS, adds_nothing
from robot_client.bench.reporting import reporting_us
from robot_client.episodes.channels import camera_topic
from robot_client.episodes.reader import BagReader
from tests.robot_client.episodes.made import OFFSET_NS, START_NS, Recording, record


def test_a_recorder_is_fed_with_cameras_and_ticks_in_real_time(tmp_path: Path) -> None:
    with recorded_line(tmp_path, write_station(tmp_path)) as line:
        line.feed(1.5, questions=True)
        line.end()
        topics = [message.topic for message in BagReader(line.episode).messages()]
    assert topics.count(camera_topic("top")) >= 2
    assert topics.count("/joint_commands") >= 20


def test_what_was_never_recorded_does_not_make_recording_cheap(tmp_path: Path) -> None:
    """45 of 90 frames in a second for 0.1 s of CPU are worth 0.2 of a core, not 0.1."""
    made = Recording(tmp_path, ros_offset_ns=str(OFFSET_NS))
    for number in range(45):
        role = ("top", "left_wrist", "right_wrist")[number % 3]
        made.bag.add(camera_topic(role), number, OFFSET_NS + START_NS + number * 20_000_000, b"\0" * 64)
    made.close()
    shares = _shares(made.folder, {"recorder_core": (START_NS, START_NS + 1_000_000_000, 0.1)})
    assert shares == {"recorder_core": 0.2, "kept_share": {"recorder_core": 0.5}}


def test_reading_is_measured_in_cpu_time_and_on_the_clock_with_all_messages_in_it(tmp_path: Path) -> None:
    episode = record(tmp_path, ticks=100)
    command = [sys.executable, "-m", "robot_client.bench.read_episode", str(episode)]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    assert found["messages"] == sum(1 for _ in BagReader(episode).messages())
    assert set(found["cpu_s"]) == set(found["clock_s"]) == {"read", "decoded", "entries", "pixels"}
    assert min(*found["cpu_s"].values(), *found["clock_s"].values()) > 0
    assert 0 <= found["grown_mb"] < 200


def test_a_recorder_adds_nothing_only_when_the_whole_interval_says_so() -> None:
    assert adds_nothing([-0.1, NOTHING_MS]) is True
    assert adds_nothing([-0.1, NOTHING_MS + 0.01]) is None
    assert adds_nothing([NOTHING_MS + 0.01, 1.0]) is False


def test_cpu_time_of_a_process_counts_its_work_and_not_its_sleep() -> None:
    before, begun_s = cpu_s(os.getpid()), time.process_time()
    while time.process_time() - begun_s < 0.1:
        pass
    assert cpu_s(os.getpid()) - before == pytest.approx(0.1, abs=0.05)


def test_reports_cost_the_loop_something_with_and_without_a_recorder() -> None:
    spent = reporting_us()
    assert 0 < spent["alone"] < 1000
    assert 0 < spent["recorded"] < 1000


@pytest.mark.parametrize("plan", [Plan(seconds=1.0), Plan(windows=-1), Plan(window_s=float("nan"))])
def test_what_cannot_be_measured_is_refused_before_anything_starts(tmp_path: Path, plan: Plan) -> None:
    with pytest.raises(ConfigurationError):
        bench_episodes(tmp_path / "episodes.json", plan)
    assert list(tmp_path.iterdir()) == []
