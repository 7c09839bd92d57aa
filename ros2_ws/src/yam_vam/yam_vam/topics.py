"""Topics as ROS has them: names relative to the node's namespace, message classes, QoS. The table is the contract's."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Final

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from contract.topics import TOPICS
from robot_client.episodes.channels import channel_specs
from robot_client.episodes.topic_bag import NOTES

DEPTH: Final = 64
"""Messages kept of a topic that is no image: a report of the loop has up to 20 at once, two of them must fit."""
FRAMES: Final = 2
"""Images kept: the newest wins."""
LATCHED: Final = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
RELIABLE: Final = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=DEPTH, reliability=ReliabilityPolicy.RELIABLE)
SENSOR: Final = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
IMAGES: Final = QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=FRAMES, reliability=ReliabilityPolicy.BEST_EFFORT)


@dataclass(frozen=True, slots=True)
class RosTopic:
    """A topic of one of our nodes. `name` begins without a slash, so that a namespace holds a whole station."""

    name: str
    kind: Any
    """Message class."""
    qos: QoSProfile


def message_class(ros_type: str) -> Any:
    """The class of "package/msg/Name"; `ModuleNotFoundError` where the package is not installed."""
    package, _, name = ros_type.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


def relative(name: str) -> str:
    """A name of the table without its slash."""
    return name.removeprefix("/")


def _profile(latched: bool, sensor_data: bool, image: bool) -> QoSProfile:
    if latched:
        return LATCHED
    if not sensor_data:
        return RELIABLE
    return IMAGES if image else SENSOR


def table() -> dict[str, RosTopic]:
    """Name in the contract's table -> topic; names with {role} are filled in by `role_topic`."""
    return {
        topic.name: RosTopic(
            relative(topic.name),
            message_class(topic.type),
            _profile(topic.latched, topic.sensor_data, "{role}" in topic.name),
        )
        for topic in TOPICS
    }


def newest_only(qos: QoSProfile) -> QoSProfile:
    """The same with one message kept: who is driven by a topic wants the newest of it, never a queue of old ones."""
    return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=1, reliability=qos.reliability, durability=qos.durability)


def role_topic(name: str, role: str) -> RosTopic:
    """The topic of one camera role, as in the table: `role_topic("/{role}/image_raw", "top")`."""
    topic = table()[name]
    return RosTopic(topic.name.format(role=role), topic.kind, topic.qos)


def loop_topics() -> dict[str, RosTopic]:
    """What an episode has beside the table: each tick's place on the grid, clips, whole questions and answers."""
    known = table()
    return {
        name: known.get(name) or RosTopic(relative(name), message_class(spec.ros_type), RELIABLE)
        for name, spec in channel_specs().items()
    }


def notes_topic() -> RosTopic:
    """What an episode keeps of its run; latched, so that a recorder that starts later has it too."""
    return RosTopic(relative(NOTES), message_class("std_msgs/msg/String"), LATCHED)
