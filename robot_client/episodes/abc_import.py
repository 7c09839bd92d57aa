"""An ABC-130k episode as one of ours: joints by arm and gripper, three compressed videos, the instruction.

Source of topics and fields: the data set's card (protobuf schemas inside each file). Streams have rates of their own
and may end at different times; everything keeps its own stamp.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError
from contract.layout import ARMS, JOINTS_PER_ARM, pack
from robot_client.clock import NS_PER_S, MonotonicClock
from robot_client.episodes import channels as topics
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.bag import Bag
from robot_client.episodes.cameras import jpeg_of
from robot_client.episodes.protobuf import Fields
from robot_client.episodes.reader import BagReader

_CAMERAS: Final = {"/top-camera": "top", "/left-wrist-camera": "left_wrist", "/right-wrist-camera": "right_wrist"}
_CODECS: Final = {"h264": "h264", "h265": "hevc"}
_KINDS: Final = {"state": topics.JOINT_STATES, "action": topics.JOINT_COMMANDS}
_PARTS: Final = {"arm": JOINTS_PER_ARM, "ee": 1}
_BACKLOG_BYTES: Final = 32 * 1024 * 1024


class AbcImport:
    """`run` reads `source` once and writes the next episode of `directory`; its folder."""

    def __init__(self, source: Path, directory: Path) -> None:
        self._source = source
        self._bag = Bag(directory, MonotonicClock())
        self._newest: dict[tuple[str, str, str], NDArray[np.float64]] = {}
        self._videos: dict[str, Stream] = {}
        self._numbers: dict[str, int] = {}
        self._instruction = ""
        self._started = False

    def run(self) -> Path:
        """Raises `EpisodeError` when the source is damaged or no such episode; what was read is marked incomplete."""
        self._bag.open({"import": {"from": "ABC-130k", "source": self._source.name}})
        try:
            self._read()
        except EpisodeError as error:
            self._bag.close({}, reason=str(error))
            raise
        self._bag.close({})
        return self._bag.folder

    def _read(self) -> None:
        for message in BagReader(self._source).messages():
            self._take(message.topic, message.data, message.log_ns)
            while self._bag.backlog_bytes > _BACKLOG_BYTES and not self._bag.trouble:
                time.sleep(0.01)
        for role, stream in self._videos.items():
            self._frames(role, stream.rest())
        if not self._started or not self._videos:
            raise EpisodeError(f"{self._source}", expected="arm states and cameras of ABC-130k", got="none of them")
        self._describe()

    def _take(self, topic: str, data: bytes, log_ns: int) -> None:
        if topic in _CAMERAS:
            fields, role = Fields(data), _CAMERAS[topic]
            if role not in self._videos:
                self._videos[role] = Stream(fields.text(4))
            self._frames(role, self._videos[role].frames(fields.blob(3), fields.stamp_ns(1) or log_ns))
        elif topic == "/instruction":
            self._instruction = Fields(data).text(2)
            self._add(topics.INSTRUCTION, log_ns, ros.text(self._instruction))
        else:
            self._joints(topic, data, log_ns)

    def _joints(self, topic: str, data: bytes, log_ns: int) -> None:
        """One arm or gripper; written when an arm moves, with the newest of everything else."""
        arm, _, rest = topic.removeprefix("/").partition("-")
        part, _, kind = rest.partition("-")
        if arm not in ARMS or part not in _PARTS or kind not in _KINDS:
            return
        fields = Fields(data)
        values, stamp_ns = fields.doubles(2), fields.stamp_ns(1) or log_ns
        if len(values) != _PARTS[part]:
            raise EpisodeError(topic, expected=f"{_PARTS[part]} positions", got=len(values))
        self._newest[arm, part, kind] = values
        wanted = [self._newest.get((a, p, kind)) for a in ARMS for p in _PARTS]
        if part == "arm" and all(one is not None for one in wanted):
            self._start(stamp_ns)
            left, left_grip, right, right_grip = (np.asarray(one) for one in wanted)
            vector = pack(left, float(left_grip[0]), right, float(right_grip[0]))
            self._add(_KINDS[kind], stamp_ns, ros.joint_state(stamp_ns, "", vector))

    def _start(self, stamp_ns: int) -> None:
        """A person drove from the first sample on."""
        if not self._started:
            self._started = True
            text = json.dumps({"mode": "TELEOP", "source": "ABC-130k", "epoch": 0})
            self._add(topics.MODE, stamp_ns, ros.text(text))

    def _frames(self, role: str, frames: Iterator[tuple[int, NDArray[np.uint8]]]) -> None:
        for stamp_ns, image in frames:
            data = ros.compressed_image(stamp_ns, f"{role}_camera", "jpeg", jpeg_of(image))
            self._add(topics.camera_topic(role), stamp_ns, data)

    def _add(self, topic: str, stamp_ns: int, data: bytes) -> None:
        number = self._numbers.get(topic, 0)
        self._numbers[topic] = number + 1
        self._bag.add(topic, number, stamp_ns, data)
        self._bag.tend()

    def _describe(self) -> None:
        self._bag.note(
            "episode", {"format": "1", "ros_offset_ns": "0", "instruction": self._instruction, "station": ""}
        )
        cameras = [{"role": role, "rate_hz": stream.rate_hz} for role, stream in self._videos.items()]
        self._bag.note("station", {"json": json.dumps({"cameras": cameras})})


class Stream:
    """One compressed video, an access unit a message. Frames come out in order with the stamps that went in."""

    def __init__(self, codec: str) -> None:
        if codec not in _CODECS:
            raise EpisodeError("video", expected=" or ".join(_CODECS), got=codec or "no format")
        self._decoder: Any = av.CodecContext.create(_CODECS[codec], "r")
        self._stamps: list[int] = []
        self._first_ns = self._last_ns = 0
        self._count = 0

    @property
    def rate_hz(self) -> float:
        """By the stamps, to the next whole number."""
        span_s = (self._last_ns - self._first_ns) / NS_PER_S
        return float(max(1, round((self._count - 1) / span_s))) if span_s > 0 else 1.0

    def frames(self, unit: bytes, stamp_ns: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """What can be decoded now: stamp and (H, W, 3) RGB."""
        self._stamps.append(stamp_ns)
        self._first_ns = self._first_ns or stamp_ns
        self._last_ns, self._count = stamp_ns, self._count + 1
        yield from self._decoded(av.Packet(unit))

    def rest(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """What the decoder still holds."""
        yield from self._decoded(None)

    def _decoded(self, packet: Any) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        try:
            for frame in self._decoder.decode(packet):
                yield self._stamps.pop(0), frame.to_ndarray(format="rgb24")
        except av.FFmpegError as error:
            raise EpisodeError("video", expected="an access unit that decodes", got=str(error)[:100]) from error
