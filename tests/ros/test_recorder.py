"""Bags of these topics, by our recorder node or by any recorder of topics, are episodes that the rest reads."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from sensor_msgs.msg import Image
from spinning import spinning
from yam_vam.images import image_of
from yam_vam.qos_watch import QosWatch
from yam_vam.recorder import RecorderNode
from yam_vam.speaker import Speaker
from yam_vam.topics import loop_topics, notes_topic, role_topic

from contract.layout import SIZE
from robot_client.episodes.channels import camera_topic
from robot_client.episodes.course import course_of
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.history import EpisodeHistory
from robot_client.episodes.info import info_of
from robot_client.episodes.observations import image_of as image_in
from robot_client.episodes.reader import BagReader
from robot_client.episodes.replans import ReplanReader
from robot_client.ticks import batch_of

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.robot_client.episodes import made
from tests.robot_client.stage import STATION

pytestmark = pytest.mark.usefixtures("ros")

TICKS = 200
ROLE = "top"


class Run(Node):
    """A client's speaker, fed with made-up ticks and replans instead of a loop's."""

    def __init__(self) -> None:
        super().__init__("run")
        self.ros_time = made.TIME
        self.watch = QosWatch(self, print)
        self.speaker = Speaker(self.watch, made.TIME, lambda: made.START_NS, frozenset())
        facts = {"format": "1", "ros_offset_ns": str(made.TIME.offset_ns), "recorded": "topics", "instruction": "go"}
        self.speaker.open({"episode": facts, "station": {"json": STATION.model_dump_json()}}, made.ROLES)
        image = role_topic("/{role}/image_raw", ROLE)
        self.images = self.watch.advertise(image.name, image.kind, image.qos)
        self.asked: list[Any] = []

    def speak(self, first: int) -> None:
        """Twenty ticks, and at every fortieth a question with its answer."""
        self.speaker.local(batch_of([made.tick(number) for number in range(first, first + 20)], first))
        self.images.publish(image_of(np.full((48, 64, 3), first % 256, np.uint8), made.TIME.of(made.START_NS), ROLE))
        if first % 40 == 0:
            question = made.observation(first // 40, made.START_NS + first * made.PERIOD_NS)
            self.asked.append(question)
            self.speaker.fed(question, 2 * len(self.asked))
            self.speaker.fed(made.answer_to(question), 2 * len(self.asked) + 1)


def check(folder: Path, run: Run) -> None:
    """What the rest of the product makes of the bag."""
    course = course_of(folder)
    assert len(course.times_ns) == TICKS
    told = np.array([made.tick(number).told for number in range(TICKS)])
    assert np.abs(course.values - told).max() < 1e-6
    assert np.array_equal(np.diff(course.times_ns), np.full(TICKS - 1, made.PERIOD_NS)), "the grid, not the arrival"
    info = info_of(folder)
    assert info.complete, info.missing
    assert info.facts["instruction"] == "go"
    history = EpisodeHistory(folder)
    history.read()
    assert history.history.modes == ["POLICY"]
    assert history.history.column("clips").any(axis=1).sum() == TICKS // 10
    asked, told, measured = (history.history.column(name) for name in ("asked", "told", "measured"))
    assert told.shape == (TICKS, SIZE)
    assert np.abs(measured - (told - 0.01)).max() < 1e-6, "each measured value at its own tick"
    assert ((np.abs(asked - told) > 0.4).any(axis=1) == history.history.column("clips").any(axis=1)).all()
    replans = list(ReplanReader(BagReader(folder)).replans())
    assert len(replans) == len(run.asked) == TICKS // 40
    for replan, question in zip(replans, run.asked, strict=True):
        for role, image in question.images.items():
            assert np.array_equal(replan.observation.images[role], image)
        assert replan.answered is not None


@pytest.fixture
def run() -> Iterator[Run]:
    yield Run()


def test_our_recorder_node_makes_an_episode(run: Run, tmp_path: Path) -> None:
    recorder = RecorderNode(lambda: 0)
    recorder.set_parameters([Parameter("directory", value=str(tmp_path))])
    with spinning(run, recorder) as spin:
        assert recorder.trigger_configure().name == "SUCCESS"
        assert recorder.trigger_activate().name == "SUCCESS"
        questions = [f"/policy/observation/{role}" for role in made.ROLES]
        wanted = {*loop_topics(), *questions, f"/{ROLE}/image_raw"}
        spin.until(lambda: not wanted & recorder._wanted.keys(), what="all subscriptions")
        spin.until(lambda: all(p.get_subscription_count() for p in run.speaker._publishers.values()), what="matches")
        for first in range(0, TICKS, 20):
            run.speak(first)
            spin.until(lambda n=first + 20: recorder.counts["/loop/tick"] >= n, what=f"ticks up to {first + 20}")
        spin.until(lambda: recorder.counts["/policy/answer"] == len(run.asked), what="the answers")
        assert recorder.counts[camera_topic(ROLE)] > 0
        assert recorder.trigger_deactivate().name == "SUCCESS"
        recorder.end()
    check(tmp_path / "episode_000000", run)
    frames = list(BagReader(tmp_path / "episode_000000").messages((camera_topic(ROLE),)))
    assert image_in(bytes(Decoder()(frames[0]).data)).shape == (48, 64, 3)


def test_both_kinds_of_reliability_are_recorded(run: Run, tmp_path: Path) -> None:
    """B35: a recorder that asks for reliable never sees a best-effort camera, and says nothing."""
    recorder = RecorderNode(lambda: 0)
    recorder.set_parameters([Parameter("directory", value=str(tmp_path))])
    reliable = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.VOLATILE)
    wrist = run.create_publisher(Image, "left_wrist/image_raw", reliable)
    with spinning(run, recorder) as spin:
        recorder.trigger_configure()
        recorder.trigger_activate()

        def both() -> bool:
            picture = image_of(np.zeros((4, 4, 3), np.uint8), made.TIME.of(made.START_NS), "x")
            run.images.publish(picture)
            wrist.publish(picture)
            return all(recorder.counts[camera_topic(role)] > 1 for role in (ROLE, "left_wrist"))

        spin.until(both, what="images of both kinds")
        recorder.end()


def test_a_recorder_that_knows_nothing_of_us_makes_an_episode(run: Run, tmp_path: Path) -> None:
    """As `ros2 bag record`: stamped with arrival, no sequence numbers, no metadata; the latched topic has it."""
    out = Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP)
    out.open()
    listener = Node("bag_recorder")
    connections: dict[str, Any] = {}
    counts: dict[str, int] = {}
    store = get_typestore(Stores.ROS2_JAZZY)

    def keep(name: str, data: bytes) -> None:
        counts[name] = counts.get(name, 0) + 1
        out.write(connections[name], time.time_ns(), data)

    topics = {**loop_topics(), "/episode/notes": notes_topic()}
    for camera in STATION.cameras:
        topics[f"/policy/observation/{camera.role}"] = role_topic("/policy/observation/{role}", camera.role)
    with spinning(run, listener) as spin:
        for name, topic in topics.items():
            kind = f"{topic.kind.__module__.split('.')[0]}/msg/{topic.kind.__name__}"
            connections[name] = out.add_connection(name, kind, typestore=store)
            listener.create_subscription(
                topic.kind, topic.name, lambda data, name=name: keep(name, data), topic.qos, raw=True
            )
        spin.until(lambda: counts.get("/episode/notes", 0) > 0, what="the latched notes")
        spin.until(lambda: all(p.get_subscription_count() for p in run.speaker._publishers.values()), what="matches")
        for first in range(0, TICKS, 20):
            run.speak(first)
            spin.until(lambda n=first + 20: counts.get("/loop/tick", 0) >= n, what=f"ticks up to {first + 20}")
        spin.until(lambda: counts.get("/policy/answer", 0) == len(run.asked), what="the answers")
        spin.until(lambda: counts.get(f"/policy/observation/{ROLE}", 0) == len(run.asked), what="the questions")
    out.close()
    check(tmp_path / "bag", run)
