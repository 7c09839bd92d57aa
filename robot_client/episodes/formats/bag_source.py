"""A rosbag2 as entries: our own episodes and any bag with standard messages on the topics of `contract.topics`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes import channels as topics
from robot_client.episodes.bag import CLOSING
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.formats.bag_images import raw_image, still_image
from robot_client.episodes.formats.entries import Driver, Entry, Instruction, Joints, Kind, Picture
from robot_client.episodes.formats.in_order import InOrder
from robot_client.episodes.formats.joint_values import joint_values
from robot_client.episodes.formats.unpacking import Unit, Unpacking
from robot_client.episodes.formats.video_units import CODECS
from robot_client.episodes.missing import missing_lines
from robot_client.episodes.reader import BagReader

UNRECORDED: Final = "unrecorded"
"""Control source of a bag that does not say who drove."""
_KINDS: Final[Mapping[str, Kind]] = {
    topics.JOINT_STATES: "measured",
    topics.JOINT_COMMANDS: "told",
    topics.JOINT_REQUESTS: "asked",
}
_ENDS: Final = ("/image_raw/compressed", "/image_raw", "/video")
_OTHER_CLOCK_NS: Final = 2 * NS_PER_S
"""A stamp this far from the time of its arrival is of another clock; then the arrival counts."""


class BagSource:
    """See `EpisodeSource`."""

    def __init__(self, path: Path, tolerant: bool = False) -> None:
        self.path, self.layout, self._tolerant = path, "rosbag2", tolerant
        self._decode = Decoder()
        self._facts: dict[str, str] = {}
        self._missing: tuple[str, ...] = ()
        self._strange: Counter[str] = Counter()
        self._sequences: dict[str, int] = {}
        self._driven = False

    @property
    def facts(self) -> Mapping[str, str]:
        """Of the episode's first record; of a stock bag its instruction."""
        return self._facts

    @property
    def missing(self) -> tuple[str, ...]:
        """Damage, what the recorder lost, frames that do not decode, stamps of another clock."""
        return self._missing

    def entries(self, roles: Collection[str] | None = None) -> Iterator[Entry]:
        """Everything on topics that we know."""
        reader, unpacking = BagReader(self.path, self._tolerant), Unpacking(self._tolerant)
        self._strange, self._sequences, self._driven = Counter(), {}, False
        instruction = ""
        for entry in unpacking.entries(self._sorted(reader, roles)):
            instruction = entry.text if isinstance(entry, Instruction) else instruction
            yield entry
        facts = dict(reader.notes.get("episode", {}))
        self._facts = {**facts, "instruction": facts.get("instruction") or instruction}
        other = [f"true stamps of {n} messages on {topic}: of another clock" for topic, n in self._strange.items()]
        self._missing = (*missing_lines(reader, reader.notes.get(CLOSING, {})), *unpacking.missing, *other)

    def cameras(self) -> Mapping[str, float]:
        """Rates as the recorded station says, else by the stamps of the messages. Reads the bag once."""
        reader, seen = BagReader(self.path, self._tolerant), dict[str, tuple[int, int, int]]()
        for message in reader.messages():
            role = camera_of(message.topic)
            if role is not None:
                first_ns, _, count = seen.get(role, (message.log_ns, 0, 0))
                seen[role] = (first_ns, message.log_ns, count + 1)
        said = _said_rates(reader.notes.get("station", {}))
        return {role: said.get(role) or rate_of(*stamps) for role, stamps in seen.items()}

    def _sorted(self, reader: BagReader, roles: Collection[str] | None) -> Iterator[Entry | Unit]:
        """By stamps; the reader sorts by time of arrival."""
        order: InOrder[Entry | Unit] = InOrder()
        begun = False
        for message in reader.messages():
            if not begun and (text := reader.notes.get("episode", {}).get("instruction")):
                order.put(Instruction(message.log_ns, text))
            begun = True
            for item in self._items_of(message, roles):
                order.put(item, len(message.data))
            yield from order.until(message.log_ns - _OTHER_CLOCK_NS)
        yield from order.rest()

    def _items_of(self, message: Any, roles: Collection[str] | None) -> Iterator[Entry | Unit]:
        topic = message.topic
        if topic in _KINDS:
            yield from self._joints(message)
        elif topic == topics.MODE:
            yield self._driver(message)
        elif topic == topics.INSTRUCTION:
            yield Instruction(message.log_ns, str(self._decode(message).data))
        else:
            role = camera_of(topic)
            if role is not None and (roles is None or role in roles):
                yield self._picture(role, message)

    def _joints(self, message: Any) -> Iterator[Entry]:
        decoded = self._decode(message)
        stamp_ns, kind = self._stamp_ns(decoded, message), _KINDS[message.topic]
        if kind == "told" and not self._driven:
            self._driven = True
            yield Driver(stamp_ns, "EXTERNAL", UNRECORDED)
        yield Joints(stamp_ns, kind, joint_values(decoded, message.topic))

    def _driver(self, message: Any) -> Driver:
        self._driven = True
        try:
            said = json.loads(self._decode(message).data)
            arms = tuple(str(arm) for arm in said.get("intervention", ()))
            return Driver(message.log_ns, str(said["mode"]), str(said["source"]), arms)
        except (ValueError, KeyError, TypeError) as error:
            raise EpisodeError(
                f"a message on {topics.MODE}", expected="JSON with mode and source", got=repr(error)[:100]
            ) from error

    def _picture(self, role: str, message: Any) -> Picture | Unit:
        decoded = self._decode(message)
        stamp_ns, topic = self._stamp_ns(decoded, message), message.topic
        if message.ros_type == "sensor_msgs/msg/Image":
            return Picture(stamp_ns, role, lambda: raw_image(decoded, topic))
        if str(decoded.format) in CODECS:
            gap = message.sequence > self._sequences.get(topic, message.sequence) + 1
            self._sequences[topic] = message.sequence
            return Unit(stamp_ns, role, str(decoded.format), bytes(decoded.data), gap)
        return Picture(stamp_ns, role, lambda: still_image(decoded, topic))

    def _stamp_ns(self, decoded: Any, message: Any) -> int:
        """When it was true; when it arrived, where there is no stamp or one of another clock."""
        stamp = decoded.header.stamp if hasattr(decoded, "header") else decoded.timestamp
        stamp_ns = int(stamp.sec) * NS_PER_S + int(stamp.nanosec)
        if stamp_ns and abs(stamp_ns - message.log_ns) <= _OTHER_CLOCK_NS:
            return stamp_ns
        if stamp_ns:
            self._strange[message.topic] += 1
        return int(message.log_ns)


def rate_of(first_ns: int, last_ns: int, count: int) -> float:
    """Messages per second, to the next whole number, at least 1."""
    span_s = (last_ns - first_ns) / NS_PER_S
    return float(max(1, round((count - 1) / span_s))) if span_s > 0 else 1.0


def camera_of(topic: str) -> str | None:
    """Camera role of an image topic; None for any other."""
    for end in _ENDS:
        if topic.endswith(end):
            return topic.removesuffix(end).strip("/").replace("/", "_")
    return None


def _said_rates(note: Mapping[str, str]) -> dict[str, float]:
    try:
        cameras = json.loads(note["json"])["cameras"]
        return {str(camera["role"]): float(camera["rate_hz"]) for camera in cameras}
    except (KeyError, ValueError, TypeError):
        return {}
