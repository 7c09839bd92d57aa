"""The table of topics is what recorder and readers use, and nothing else is ever written."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from contract.messages import Welcome
from contract.topics import BAG_TOPICS, TOPICS, topic_of
from robot_client.episodes.cameras import CameraWatch
from robot_client.episodes.channels import ANSWER, channel_specs
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.feed import UNCOUNTED
from robot_client.episodes.formats.choose import open_episode
from robot_client.episodes.formats.entries import Picture
from robot_client.episodes.info import info_of
from robot_client.episodes.reader import BagReader
from robot_client.episodes.recover import cut
from robot_client.local_messages import Imagined, PlanFailure, ReplanRecord
from tests.robot_client.episodes import made
from tests.robot_client.episodes.test_cameras import Cameras
from tests.robot_client.stage import STATION, info

STEP_NS = 200_000_000


def full_recording(directory: Path, codec: str) -> Path:
    """Everything that an episode can have: loop, planner, cameras, imagined frames."""
    recording = made.Recording(directory)
    clock = recording.clock
    watch = CameraWatch(Cameras(recording), STATION.cameras, made.TIME, recording.bag.add, clock.now_ns(), codec)  # type: ignore[arg-type]
    recording.recorder._cameras = watch
    recording.planner(Welcome(info()))
    recording.replan(0)
    recording.planner(PlanFailure(3, 7, "late", "too late"))
    frames = np.stack([np.full((48, 64, 3), 40 * i, np.uint8) for i in range(4)])
    recording.feed.items.append((UNCOUNTED, Imagined(clock.now_ns(), STEP_NS, frames)))
    for _ in range(60):
        recording.ticks(5)
    assert recording.close().complete
    return recording.folder


@pytest.fixture(scope="module", params=["jpeg", "h264"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return full_recording(tmp_path_factory.mktemp(request.param), request.param)


def test_every_topic_of_an_episode_is_in_the_table_with_its_type(folder: Path) -> None:
    found = info_of(folder)
    assert {topic.name for topic in BAG_TOPICS if "{" not in topic.name} <= found.counts.keys()
    for name, ros_type in found.types.items():
        row = topic_of(name)
        assert row is not None and row.type == ros_type and row.direction in ("out", "both", "bag"), name


def test_an_answer_in_the_bag_has_all_that_the_planner_says_of_it(folder: Path) -> None:
    """`client_ns`, the durations on our side of the network, came with every record and was not written."""
    (message,) = BagReader(folder).messages([ANSWER])
    written = json.loads(Decoder()(message).data)
    elsewhere = {"session", "epoch", "sequence", "prefix", "joints", "masses"}
    assert {field.name for field in dataclasses.fields(ReplanRecord)} - elsewhere <= written.keys()
    assert set(written["client_ns"]) == {"check", "encode", "round_trip", "decode"}


def test_topics_are_listed_once() -> None:
    names = [topic.name for topic in (*TOPICS, *BAG_TOPICS)]
    assert len(set(names)) == len(names)
    assert all(spec.ros_type == topic_of(name).type for name, spec in channel_specs().items())  # type: ignore[union-attr]
    assert topic_of("/policy/observation/top/x") is None and topic_of("/loop/else") is None


def test_a_stock_reader_of_rosbags_opens_it_and_decodes_every_message(folder: Path) -> None:
    """The `rosbags` library: its own MCAP and CDR code, by the definitions in the file; it checks metadata.yaml too."""
    counts: Counter[str] = Counter()
    with AnyReader([folder]) as reader:
        for connection, stamp_ns, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            assert message is not None and stamp_ns > 0
            counts[connection.topic] += 1
        assert counts == info_of(folder).counts == {c.topic: c.msgcount for c in reader.connections if c.msgcount}


def test_imagined_frames_have_the_time_they_predict(folder: Path) -> None:
    """Not counted as lost or found by the planner's numbers."""
    decode = Decoder()
    images = [decode(message) for message in BagReader(folder).messages(["/policy/imagined"])]
    stamps = [image.header.stamp.sec * 10**9 + image.header.stamp.nanosec for image in images]
    assert np.diff(stamps).tolist() == [STEP_NS] * 3
    assert len({image.header.frame_id for image in images}) == 1
    closing: dict[str, str] = {}
    reader = BagReader(folder)
    for _ in reader.messages(()):
        pass
    closing = reader.notes["closing"]
    assert json.loads(closing["lost_before_the_recorder"]) == {}


def test_frames_come_back_whether_jpeg_or_h264(folder: Path) -> None:
    """Every frame once, under its stamp, with its shade; and from H.264 as from JPEG."""
    source = open_episode(folder)
    for role in made.ROLES:
        pictures = [entry for entry in source.entries([role]) if isinstance(entry, Picture)]
        assert len(pictures) in (30, 31)
        period_ns = round(1e9 / STATION.cameras[0].rate_hz)
        numbers = [(picture.stamp_ns - made.OFFSET_NS) // period_ns for picture in pictures]
        assert set(np.diff(numbers)) == {1}
        np.testing.assert_allclose([p.rgb().mean() for p in pictures], [n % 200 for n in numbers], atol=3)
    assert source.missing == ()


def test_a_piece_begins_its_videos_with_a_keyframe(tmp_path: Path) -> None:
    folder = full_recording(tmp_path, "h264")
    assert cut(folder, tmp_path / "piece", 0.45, 2.5).complete
    source = open_episode(tmp_path / "piece")
    pictures = [entry for entry in source.entries(["top"]) if isinstance(entry, Picture)]
    assert source.missing == () and 15 <= len(pictures) <= 21
    shades = [picture.rgb().mean() for picture in pictures]
    np.testing.assert_allclose(np.diff(shades), 1, atol=1.5)


def test_units_lost_on_the_way_cost_frames_up_to_the_next_keyframe_and_show_nothing_wrong(tmp_path: Path) -> None:
    """B38: a gap in the numbers of a video is seen; frames that could only be guessed are counted, not shown."""
    folder = full_recording(tmp_path, "h264")
    from robot_client.episodes.copy import BagCopy

    copy = BagCopy(tmp_path / "lossy")
    copy.open()
    for message in BagReader(folder).messages():
        if not (message.topic == "/top/video" and message.sequence == 3):
            copy.add(message)
    copy.close({"complete": "true"})
    source = open_episode(tmp_path / "lossy", tolerant=True)
    pictures = [entry for entry in source.entries(["top"]) if isinstance(entry, Picture)]
    shades = np.array([picture.rgb().mean() for picture in pictures])
    numbers = [(p.stamp_ns - made.OFFSET_NS) // round(1e9 / STATION.cameras[0].rate_hz) % 200 for p in pictures]
    np.testing.assert_allclose(shades, numbers, atol=3)
    assert 3 < len(pictures) < 29 and any("frames of camera top" in line for line in source.missing)
