"""Entries -> an episode of ours: standard ROS messages, pictures as JPEG, everything under its own stamp."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from mcap.records import Channel, Schema

from robot_client.clock import NS_PER_S
from robot_client.control_source import per_arm
from robot_client.episodes import channels as topics
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.cameras import jpeg_of
from robot_client.episodes.channels import channel_specs, image_channel
from robot_client.episodes.copy import BagCopy
from robot_client.episodes.formats.entries import Driver, Entry, Instruction, Joints, Kind, Picture
from robot_client.episodes.raw_message import RawMessage

FORMAT: Final = "1"
_TOPICS: Final[Mapping[Kind, str]] = {
    "measured": topics.JOINT_STATES,
    "told": topics.JOINT_COMMANDS,
    "asked": topics.JOINT_REQUESTS,
}


class EntryWriter:
    """`open`, `add` in the order of stamps, `close`. Raises `EpisodeError` when the folder exists or the disk fails."""

    def __init__(self, folder: Path) -> None:
        self._copy = BagCopy(folder)
        self._numbers: Counter[str] = Counter()
        self._driver = ""
        self.entries = 0
        self.start_ns = self.end_ns = 0
        self._cameras: dict[str, tuple[int, int, int]] = {}

    @property
    def seconds(self) -> float:
        """From the first entry to the last."""
        return (self.end_ns - self.start_ns) / NS_PER_S

    def open(self) -> None:
        """A new folder."""
        self._copy.open()

    def add(self, entry: Entry) -> None:
        """One entry."""
        self.start_ns = self.start_ns or entry.stamp_ns
        self.end_ns = max(self.end_ns, entry.stamp_ns)
        self.entries += 1
        if isinstance(entry, Joints):
            frame_id = self._driver if entry.kind == "told" else ""
            data = ros.joint_state(entry.stamp_ns, frame_id, entry.values)
            self._add(_TOPICS[entry.kind], entry.stamp_ns, data)
        elif isinstance(entry, Picture):
            first_ns, _, count = self._cameras.get(entry.role, (entry.stamp_ns, 0, 0))
            self._cameras[entry.role] = (first_ns, entry.stamp_ns, count + 1)
            data = ros.compressed_image(entry.stamp_ns, f"{entry.role}_camera", "jpeg", jpeg_of(entry.rgb()))
            self._add(topics.camera_topic(entry.role), entry.stamp_ns, data)
        elif isinstance(entry, Driver):
            self._driver = entry.source
            said: dict[str, object] = {"mode": entry.mode, "source": entry.source, "epoch": 0}
            said |= {str(arm): source for arm, source in per_arm(entry.source).items()}
            text = json.dumps({**said, "intervention": list(entry.intervention)})
            self._add(topics.MODE, entry.stamp_ns, ros.text(text))
        elif isinstance(entry, Instruction):
            self._add(topics.INSTRUCTION, entry.stamp_ns, ros.text(entry.text))

    def close(self, facts: Mapping[str, str], rates: Mapping[str, float], missing: Sequence[str], how: str) -> None:
        """`facts` of the source, rates of its cameras, and what it does not have; `how` and from where it came."""
        shown = {role: rate for role, rate in rates.items() if role in self._cameras}
        self._copy.note("episode", {"format": FORMAT, "ros_offset_ns": "0", "station": "", **facts})
        cameras = [{"role": role, "rate_hz": rate} for role, rate in shown.items()]
        self._copy.note("station", {"json": json.dumps({"cameras": cameras})})
        self._copy.close(
            {
                "complete": "false" if missing else "true",
                how: facts.get("from", ""),
                "messages": str(self.entries),
                "seconds": f"{self.seconds:.3f}",
                "missing": json.dumps(list(missing)),
            }
        )

    def _add(self, topic: str, stamp_ns: int, data: bytes) -> None:
        number = self._numbers[topic]
        self._numbers[topic] += 1
        self._copy.add(message_of(topic, number, stamp_ns, data))


def message_of(topic: str, number: int, stamp_ns: int, data: bytes) -> RawMessage:
    """One message on a topic that an episode has, as it lies in a file. Raises `EpisodeError` for any other topic."""
    spec = _SPECS.get(topic) or image_channel(topic, len(_SPECS) + 1)
    schema = Schema(id=spec.id, name=spec.ros_type, encoding=spec.schema_encoding, data=spec.definition)
    qos = {"offered_qos_profiles": spec.qos}
    channel = Channel(
        id=spec.id, topic=spec.topic, message_encoding=spec.message_encoding, metadata=qos, schema_id=spec.id
    )
    return RawMessage(spec.topic, spec.ros_type, stamp_ns, stamp_ns, number, data, channel, schema)


_SPECS: Final = channel_specs()
