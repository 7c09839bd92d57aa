"""Messages of a bag, or entries of another layout, onto a screen. Images stay as they were compressed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.episodes import channels as topics
from robot_client.episodes.cameras import jpeg_of
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.formats.bag_images import raw_image
from robot_client.episodes.formats.bag_source import camera_of
from robot_client.episodes.formats.entries import Driver, Entry, Instruction, Joints, Kind, Picture
from robot_client.episodes.formats.joint_values import joint_values
from robot_client.episodes.raw_message import RawMessage

_KINDS: Final[dict[str, Kind]] = {
    topics.JOINT_STATES: "measured",
    topics.JOINT_COMMANDS: "told",
    topics.JOINT_REQUESTS: "asked",
}
_SEEN: Final = topics.image_topic("")
_STOPPED: Final = ("HOLD", "FAULT", "FALLING")


class Draws(Protocol):
    """What is needed of `Screen`."""

    def joints(self, stamp_ns: int, kind: Kind, values: NDArray[np.float64]) -> None:
        """Joints."""

    def image(self, stamp_ns: int, entity: str, data: bytes, form: str) -> None:
        """A compressed image."""

    def number(self, stamp_ns: int, entity: str, value: float) -> None:
        """A point of a curve."""

    def text(self, stamp_ns: int, entity: str, text: str, warns: bool = False) -> None:
        """A line."""


class Drawing:
    """Draws what comes, in any order."""

    def __init__(self, screen: Draws) -> None:
        self._screen, self._decode = screen, Decoder()

    def message(self, message: RawMessage) -> None:
        """One message of a rosbag2; what nobody looks at is passed over."""
        topic, screen = message.topic, self._screen
        if topic in _KINDS:
            screen.joints(message.log_ns, _KINDS[topic], joint_values(self._decode(message), topic))
        elif topic == topics.MODE:
            said = json.loads(self._decode(message).data)
            screen.text(message.log_ns, "words/mode", f"{said['mode']}: {said['source']}", said["mode"] in _STOPPED)
        elif topic == topics.INSTRUCTION:
            screen.text(message.log_ns, "words/instruction", str(self._decode(message).data))
        elif topic == topics.FAILURE:
            screen.text(message.log_ns, "words/failure", str(self._decode(message).data), warns=True)
        elif topic == topics.ANSWER:
            self._answer(message.log_ns, json.loads(self._decode(message).data))
        else:
            self._image(message)

    def entries(self, entries: Iterable[Entry]) -> None:
        """An episode of another layout."""
        for entry in entries:
            if isinstance(entry, Joints):
                self._screen.joints(entry.stamp_ns, entry.kind, entry.values)
            elif isinstance(entry, Picture):
                self._screen.image(entry.stamp_ns, f"cameras/{entry.role}", jpeg_of(entry.rgb()), "jpeg")
            elif isinstance(entry, Driver):
                self._screen.text(entry.stamp_ns, "words/mode", f"{entry.mode}: {entry.source}")
            elif isinstance(entry, Instruction):
                self._screen.text(entry.stamp_ns, "words/instruction", entry.text)

    def _answer(self, stamp_ns: int, answer: dict[str, Any]) -> None:
        numbers = {
            "policy/temporal_ratio": answer["tr_value"],
            "policy/scale/lang": answer["scale_lang"],
            "policy/scale/plan": answer["scale_plan"],
            "policy/branches": len(answer["branches_run"]),
            "policy/answer_ms": (answer["answered_ns"] - answer["asked_ns"]) / NS_PER_MS,
        }
        for entity, value in numbers.items():
            self._screen.number(stamp_ns, entity, value)

    def _image(self, message: RawMessage) -> None:
        role = camera_of(message.topic)
        if role is not None:
            entity = f"cameras/{role}"
        elif message.topic == topics.IMAGINED:
            entity = "policy/imagined"
        elif message.topic.startswith(_SEEN):
            entity = f"policy/seen/{message.topic.removeprefix(_SEEN)}"
        else:
            return
        decoded = self._decode(message)
        if message.ros_type == "sensor_msgs/msg/Image":
            self._screen.image(message.log_ns, entity, jpeg_of(raw_image(decoded, message.topic)), "jpeg")
        else:
            stamp_ns = _stamp_ns(decoded) if entity == "policy/imagined" else message.log_ns
            self._screen.image(stamp_ns, entity, bytes(decoded.data), str(decoded.format))


def _stamp_ns(decoded: Any) -> int:
    """Of an imagined frame: the time that it predicts."""
    return int(decoded.header.stamp.sec) * NS_PER_S + int(decoded.header.stamp.nanosec)
