"""A recorded episode on a rig: paced by stamps, eased in, stoppable, and told again what was told."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from mcap_ros2.writer import Writer
from numpy.typing import NDArray

from contract.errors import ConfigurationError, EpisodeError
from contract.layout import URDF_NAMES
from contract.types import Observation
from robot_client import local_codec
from robot_client.channel import channel_pair
from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.episodes.course import Course, course_from, course_of
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.definitions import definition_of
from robot_client.episodes.reader import BagReader
from robot_client.episodes.ros_messages import to_urdf
from robot_client.episodes.source import EpisodeSource
from robot_client.local_messages import PersonEvent
from robot_client.loop_process import LoopProcess
from robot_client.pacer import Pacer
from robot_client.process_config import LoopConfig
from robot_client.rigs.ideal import IdealRig
from robot_client.safety.limits import limits_of
from robot_client.ticks import TickRecord
from tests.robot_client.episodes import made
from tests.robot_client.patient import patient_station
from tests.robot_client.stage import HOME, PERIOD_NS, STATION, Stage, steady
from tests.waiting import PATIENCE_S, STANDSTILL_S

LIMITS = limits_of(STATION.safety, PERIOD_NS / NS_PER_S)


class Replay:
    """The loop on an ideal rig with an episode, on a fake clock."""

    def __init__(self, path: Path, speed: float = 1.0, start: NDArray = HOME) -> None:
        self.clock = FakeClock(made.START_NS)
        self.rig = IdealRig(self.clock, start, STATION.cameras)
        self.to_loop, theirs = channel_pair()
        self.planner, planner_theirs = channel_pair()
        config = LoopConfig(rig="ideal", realtime=False, episode=str(path), episode_speed=speed)
        self.process = LoopProcess(config, STATION, self.rig, self.clock, theirs, planner_theirs)
        self.ticks: list[TickRecord] = []
        self.process.loop._record = self.ticks.append
        self.pacer = Pacer(self.clock, PERIOD_NS)
        self.pacer.start()
        self.run(0.05)
        self.person("replay")

    def person(self, act: str) -> None:
        assert local_codec.send(self.to_loop, PersonEvent(act))  # type: ignore[arg-type]

    @property
    def mode(self) -> str:
        return self.process.pilot.state.mode.value

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * NS_PER_S / PERIOD_NS)):
            self.process.loop.tick(self.pacer.wait())

    def run_until(self, mode: str, seconds: float) -> None:
        for _ in range(round(seconds * NS_PER_S / PERIOD_NS)):
            self.process.loop.tick(self.pacer.wait())
            if self.mode == mode:
                return
        raise AssertionError(f"{self.mode}: {self.process.pilot.state.reason}")

    def replayed(self) -> list[TickRecord]:
        return [tick for tick in self.ticks if tick.mode == "REPLAY"]


def told(ticks: list[TickRecord]) -> NDArray:
    return np.array([tick.told for tick in ticks])


def speeds(ticks: list[TickRecord]) -> NDArray:
    """(N - 1, 14) over the time that really passed."""
    times = np.array([tick.deadline_ns for tick in ticks]) / NS_PER_S
    return np.diff(told(ticks), axis=0) / np.diff(times)[:, None]


def smooth(times_s: NDArray) -> NDArray:
    """(N, 14) around home, at rest at the beginning."""
    return HOME + made.WAY * 0.2 * (1.0 - np.cos(times_s / 2.0))[:, None] * np.linspace(0.2, 1.0, 14)


def stock_bag(folder: Path, stamps_s: NDArray, split_at_s: float) -> Path:
    """JointState messages by the public writer, in two files, the names in another order than ours."""
    folder.mkdir()
    values = to_urdf(smooth(stamps_s))
    for part, chosen in enumerate((stamps_s < split_at_s, stamps_s >= split_at_s)):
        writer = Writer(str(folder / f"stock_{part}.mcap"))
        schema = writer.register_msgdef("sensor_msgs/msg/JointState", definition_of("sensor_msgs/msg/JointState"))
        for i in np.flatnonzero(chosen):
            stamp_ns = round(made.OFFSET_NS + stamps_s[i] * NS_PER_S)
            header = {"stamp": {"sec": stamp_ns // NS_PER_S, "nanosec": stamp_ns % NS_PER_S}, "frame_id": ""}
            message = {
                "header": header,
                "name": list(URDF_NAMES)[::-1],
                "position": [float(value) for value in values[i][::-1]],
                "velocity": [],
                "effort": [],
            }
            writer.write_message("/joint_commands", schema, message, log_time=stamp_ns, publish_time=stamp_ns)
        writer.finish()
    return folder


@pytest.fixture(scope="module")
def odd_bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 s at 50 Hz with a gap of 1.5 s and 50 messages at one stamp, split in two files."""
    stamps_s = np.arange(0.0, 20.0001, 0.02)
    stamps_s = stamps_s[(stamps_s <= 8.0) | (stamps_s >= 9.5)]
    stamps_s = np.sort(np.append(stamps_s, np.full(50, 14.0)))
    return stock_bag(tmp_path_factory.mktemp("stock") / "bag", stamps_s, 11.0)


def recorded_from(ticks: list[TickRecord], directory: Path) -> Path:
    """An episode of these ticks, through the recorder."""
    recording = made.Recording(directory)
    recording.clock.advance(max(0, ticks[-1].stamp_ns - recording.clock.now_ns()))
    for start in range(0, len(ticks), 20):
        local_codec.send(recording.loop, made.batch_of(ticks[start : start + 20], start))
        recording.recorder.step()
    assert recording.close().complete
    return recording.folder


def test_told_is_reproduced_on_the_ideal_rig_though_the_policy_asked_for_more(tmp_path: Path) -> None:
    """B40: a policy that jumps between far rows is clipped at nearly every tick; the replay is what the arms were told.

    A course at the very limit of acceleration once turned rounding into 0.08 rad.
    """
    random = np.random.default_rng(7)
    stage = Stage(steady(lambda asked: HOME + random.uniform(-0.6, 0.6, (16 - len(asked.prefix), 14)).clip(-0.5, 0.5)))
    stage.run(8.0)
    ticks = [tick for tick in stage.ticks if tick.told is not None]
    asked = np.array([tick.asked if tick.asked is not None else tick.told for tick in ticks])
    assert np.abs(asked - told(ticks)).max() > 0.2, "the policy was clipped"
    replay = Replay(recorded_from(ticks, tmp_path))
    replay.run_until("REPLAY", 5.0)
    replay.run_until("HOLD", 12.0)
    replayed = replay.replayed()
    assert np.abs(np.diff(told(replayed), axis=0)).sum() > 5.0, "the arms moved"
    assert len(replayed) >= len(ticks), "after the last target the arms still come to rest"
    np.testing.assert_allclose(told(replayed)[: len(ticks)], told(ticks), rtol=0.0, atol=1e-6)


def test_of_a_refused_chunk_nothing_is_recorded_as_told(tmp_path: Path) -> None:
    """B40: a row that is no number is refused; told brakes from what it was, and the bag says who drove and when."""

    def rows(asked: Observation) -> NDArray:
        values = np.tile(HOME + made.WAY * 0.02 * min(asked.sequence, 5), (16 - len(asked.prefix), 1))
        if asked.sequence >= 6:
            values[3, 2] = np.nan
        return values

    stage = Stage(steady(rows))
    stage.run_until(lambda: stage.mode == "HOLD", 15.0)
    stage.run(0.5)
    assert "left_joint3" in stage.reason
    folder = recorded_from([tick for tick in stage.ticks if tick.told is not None], tmp_path)
    decode = Decoder()
    modes = {one.sequence: json.loads(decode(one).data) for one in BagReader(folder).messages(["/mode"])}
    held = next(number for number, mode in modes.items() if mode["mode"] == "HOLD")
    asked = [one.sequence for one in BagReader(folder).messages(["/joint_requests"])]
    course = course_of(folder)
    assert max(asked) <= held, "nothing of the refused chunk was asked for"
    assert np.isfinite(course.values).all()
    assert (np.abs(np.diff(course.values[held - 5 :], axis=0)) <= LIMITS.speed * LIMITS.period_s).all()
    np.testing.assert_array_equal(course.values[-1], course.values[-10])


@pytest.mark.parametrize("speed", [1.0, 0.5])
def test_a_bag_is_paced_by_its_stamps(odd_bag: Path, speed: float) -> None:
    """B41: 20 s of odd stamps take 20 s, at half the speed 40 s; each target is the one that is due."""
    course = course_of(odd_bag)
    assert course.dropped == 50 and course.duration_ns == 20 * NS_PER_S
    replay = Replay(odd_bag, speed)
    replay.clock.oversleep_ns = 2 * NS_PER_MS
    replay.run_until("REPLAY", 5.0)
    replay.run_until("HOLD", 60.0)
    ticks = replay.replayed()
    seconds = (ticks[-1].deadline_ns - ticks[0].deadline_ns) / NS_PER_S
    assert seconds == pytest.approx(20.0 / speed, rel=0.01)
    for tick in ticks:
        due_ns = (tick.deadline_ns - ticks[0].deadline_ns) * speed
        np.testing.assert_allclose(tick.told, course.at(due_ns), atol=2e-3)
        assert abs(tick.stamp_ns - tick.deadline_ns) <= 5 * NS_PER_MS
    assert np.ptp(told(ticks), axis=0).max() > 0.3, "the arms moved"


def test_a_stall_is_skipped_and_counted_without_a_burst(odd_bag: Path) -> None:
    """B41: 300 ms without a tick; the speed limit holds, no missed target is played, and the course is met again."""
    replay = Replay(odd_bag)
    replay.run_until("REPLAY", 5.0)
    replay.run(5.0)
    replay.clock.advance(300 * NS_PER_MS)
    replay.run(3.0)
    ticks = replay.replayed()
    assert replay.process.loop.counts["periods_skipped"] in (29, 30)
    assert (np.abs(np.diff(told(ticks), axis=0)) <= LIMITS.speed * LIMITS.period_s + 1e-9).all()
    last = ticks[-1]
    now = course_of(odd_bag).at(last.deadline_ns - ticks[0].deadline_ns)
    np.testing.assert_allclose(last.told, now, atol=2e-3)


def test_a_far_start_is_eased_into(odd_bag: Path) -> None:
    """B41: 0.7 rad away on every joint; a ramp below the limits, and the episode's time begins only after it."""
    start = HOME + np.where(np.arange(14) % 7 == 6, 0.0, 0.7)
    start = np.clip(start, LIMITS.lower, LIMITS.upper)
    replay = Replay(odd_bag, start=start)
    replay.run_until("REPLAY", 10.0)
    ramp = [tick for tick in replay.ticks if tick.mode == "HANDOFF"]
    assert np.abs(told(ramp)[0] - told(ramp)[-1]).max() > 0.6
    assert (np.abs(speeds(ramp)) <= 0.81 * LIMITS.speed).all()
    assert np.abs(np.diff(speeds(ramp), axis=0)).max() <= 0.81 * LIMITS.acceleration.max() * LIMITS.period_s
    first = replay.replayed()[0]
    np.testing.assert_allclose(first.told, course_of(odd_bag).values[0], atol=1e-6)


def test_a_person_stops_it_by_braking(odd_bag: Path) -> None:
    """B41: the stop key in the middle: HOLD at once, braking within the limits, then standing."""
    replay = Replay(odd_bag)
    replay.run_until("REPLAY", 5.0)
    replay.run(3.0)
    replay.person("hold")
    replay.run(1.0)
    assert replay.mode == "HOLD" and replay.process.loop.resting
    end = [tick for tick in replay.ticks if tick.mode == "HOLD"]
    assert (np.abs(np.diff(speeds(end), axis=0)) <= LIMITS.acceleration * LIMITS.period_s * 1.001).all()
    assert (told(end)[-1] == told(end)[-2]).all()


def test_an_episode_can_be_replayed_again_after_a_hold(odd_bag: Path) -> None:
    replay = Replay(odd_bag)
    replay.run_until("REPLAY", 5.0)
    replay.run(2.0)
    replay.person("hold")
    replay.run(1.0)
    replay.person("release")
    replay.person("replay")
    replay.run_until("REPLAY", 5.0)
    np.testing.assert_allclose(replay.ticks[-1].told, course_of(odd_bag).values[0], atol=1e-6)


def test_an_episode_that_begins_beyond_the_limits_is_refused_by_name(tmp_path: Path) -> None:
    """B41: the ramp would never end; the arms hold and a person reads which channel it is."""
    folder = made.record(tmp_path, ticks=60)
    replay = Replay(folder)
    source = replay.process.pilot.episode
    assert isinstance(source, EpisodeSource)
    source._course.values[0, 2] = LIMITS.upper[2] + 0.5
    replay.run_until("HOLD", 10.0)
    assert "left_joint3" in replay.process.pilot.state.reason
    assert not replay.replayed()


@pytest.mark.parametrize("speed", [2.0, 1.01, 0.0, -1.0, float("nan")])
def test_faster_than_it_was_is_refused(speed: float) -> None:
    """B41: 2x could break the joint speed of what was recorded at its limit."""
    course = Course(np.array([0, PERIOD_NS]), np.array([HOME, HOME]), 0)
    with pytest.raises(ConfigurationError, match="speed"):
        EpisodeSource(course, LIMITS, 0.8, speed)


def test_replay_without_an_episode_is_refused_by_the_loop(tmp_path: Path) -> None:
    stage = Stage(steady(lambda asked: np.tile(HOME, (16, 1))), engage=False)
    stage.person("replay")
    stage.run(0.1)
    assert stage.mode == "IDLE" and "no episode" in stage.process.pilot.notice


def test_a_bag_without_told_targets_is_refused(tmp_path: Path) -> None:
    folder = stock_bag(tmp_path / "bag", np.zeros(1), 1.0)
    with pytest.raises(EpisodeError, match="joint_commands"):
        course_of(folder)


def test_of_several_targets_at_one_stamp_the_last_counts() -> None:
    values = np.arange(4.0)[:, None] * np.ones(14)
    course = course_from(np.array([0, 10, 10, 20]), values)
    assert course.dropped == 1
    assert [course.at(time)[0] for time in (-5, 0, 5, 10, 15, 99)] == [0.0, 0.0, 1.0, 2.0, 2.5, 3.0]


def command(path: Path, *args: str) -> subprocess.Popen[str]:
    code = "import sys; from robot_client.cli import main; sys.argv = ['yam-robot', *sys.argv[1:]]; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "episode", "replay", str(path), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def station(tmp_path: Path) -> str:
    return str(patient_station(tmp_path))


def test_an_interrupt_in_the_middle_brakes_and_ends_in_time(odd_bag: Path, station: str, tmp_path: Path) -> None:
    """B41: SIGINT to the real command; no traceback, arms held and parked, exit code 0 within 8 s."""
    said = ""
    for after_s in (4.0, 12.0):  # a slow machine has not begun after four seconds
        process = command(odd_bag, "--rig", "ideal", "--station", station, "--out", str(tmp_path / "out"))
        assert process.stdout is not None and "targets" in process.stdout.readline()
        time.sleep(after_s)
        os.killpg(process.pid, signal.SIGINT)
        asked_s = time.monotonic()
        said, _ = process.communicate(timeout=PATIENCE_S)
        assert time.monotonic() - asked_s < 8.0 + STANDSTILL_S
        if "replayed" in said:
            break
    assert process.returncode == 0, said
    assert "stopped by a person" in said and "Traceback" not in said
    assert "replayed" in said and "pose:park reached" in said


@pytest.mark.skipif(importlib.util.find_spec("mujoco") is None, reason="the twin needs MuJoCo")
def test_the_twin_is_told_the_recorded_course(station: str, tmp_path: Path) -> None:
    """B41: no success without motion: told agrees at every tick, and the course is one that moves."""
    folder = made.record(tmp_path, ticks=160)
    process = command(folder, "--rig", "sim", "--station", station, "--out", str(tmp_path / "out"))
    said, _ = process.communicate(timeout=200.0)
    assert process.returncode == 0, said
    differ = float(said.split("differ by at most ")[1].split()[0])
    assert differ <= 0.02, said
    assert np.ptp(course_of(folder).values, axis=0).max() > 0.1
