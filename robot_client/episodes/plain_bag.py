"""A bag as one that every stock tool shows: all messages as they are, but H.264 frames as JPEG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from robot_client.clock import NS_PER_S
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.bag import CLOSING
from robot_client.episodes.cameras import jpeg_of
from robot_client.episodes.channels import camera_topic
from robot_client.episodes.copy import BagCopy
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.entry_writer import message_of
from robot_client.episodes.formats.bag_source import camera_of
from robot_client.episodes.formats.video_units import VideoUnits, rgb_of
from robot_client.episodes.missing import missing_lines
from robot_client.episodes.raw_message import RawMessage
from robot_client.episodes.reader import BagReader
from robot_client.episodes.shown_from import VIDEO


def plain_bag(source: Path, folder: Path) -> int:
    """The number of messages. Raises `EpisodeError` when `folder` exists or the source is damaged."""
    reader, copy = BagReader(source), BagCopy(folder)
    copy.open()
    count = 0
    for message in _messages(reader):
        copy.add(message)
        count += 1
    closing = reader.notes.get(CLOSING, {})
    copy.notes(reader.notes)
    missing = missing_lines(reader, closing)
    copy.close(
        {"complete": "false" if missing else "true", "exported_from": source.name, "missing": "; ".join(missing)}
    )
    return count


def _messages(reader: BagReader) -> Iterator[RawMessage]:
    decode, videos = Decoder(), dict[str, VideoUnits]()
    numbers: Counter[str] = Counter()
    for message in reader.messages():
        role = camera_of(message.topic)
        if message.ros_type != VIDEO or role is None:
            yield message
            continue
        unit = decode(message)
        video = videos.setdefault(role, VideoUnits(str(unit.format)))
        for stamp_ns, frame in video.frames(bytes(unit.data), _stamp_ns(unit)):
            yield _jpeg(role, numbers, stamp_ns, rgb_of(frame))
    for role, video in videos.items():
        for stamp_ns, frame in video.rest():
            yield _jpeg(role, numbers, stamp_ns, rgb_of(frame))


def _jpeg(role: str, numbers: Counter[str], stamp_ns: int, image: np.ndarray) -> RawMessage:
    topic = camera_topic(role)
    numbers[topic] += 1
    data = ros.compressed_image(stamp_ns, f"{role}_camera", "jpeg", jpeg_of(image))
    return message_of(topic, numbers[topic] - 1, stamp_ns, data)


def _stamp_ns(unit: Any) -> int:
    return int(unit.timestamp.sec) * NS_PER_S + int(unit.timestamp.nanosec)
