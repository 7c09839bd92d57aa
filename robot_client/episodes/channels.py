"""Topics of an episode: those of `contract.topics`, and what the control loop and the observations add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contract.errors import EpisodeError
from contract.topics import TOPICS
from robot_client.episodes.definitions import definition_of

JOINT_STATES: Final = "/joint_states"
JOINT_COMMANDS: Final = "/joint_commands"
JOINT_REQUESTS: Final = "/joint_requests"
CHUNK: Final = "/policy/chunk"
TEMPORAL_RATIO: Final = "/policy/temporal_ratio"
GUIDANCE_SCALE: Final = "/policy/guidance_scale"
MASSES: Final = "/policy/masses"
MODE: Final = "/mode"
INSTRUCTION: Final = "/policy/instruction"
DIAGNOSTICS: Final = "/diagnostics"
OBSERVATION: Final = "/policy/observation"
ANSWER: Final = "/policy/answer"
FAILURE: Final = "/policy/failure"
TICK: Final = "/loop/tick"
CLIPS: Final = "/loop/clips"

TICK_FIELDS: Final = (
    "deadline_ns",
    "given_ns",
    "lateness_ns",
    "skipped",
    "epoch",
    "row",
    "fraction_e9",
    "measured_stamp_ns",
)
"""Values of one /loop/tick, in order; stamps are monotonic, fraction_e9 is the way to the next row in 1e-9."""

_OWN: Final[dict[str, str]] = {
    OBSERVATION: "std_msgs/msg/String",
    ANSWER: "std_msgs/msg/String",
    FAILURE: "std_msgs/msg/String",
    TICK: "std_msgs/msg/Int64MultiArray",
    CLIPS: "std_msgs/msg/UInt8MultiArray",
}
_SHARED: Final = (
    JOINT_STATES,
    JOINT_COMMANDS,
    JOINT_REQUESTS,
    CHUNK,
    TEMPORAL_RATIO,
    GUIDANCE_SCALE,
    MASSES,
    MODE,
    INSTRUCTION,
    DIAGNOSTICS,
)
_LATCHED: Final = (MODE, INSTRUCTION)
_IMAGE: Final = "sensor_msgs/msg/CompressedImage"
_CAMERA_END: Final = "/image_raw/compressed"


_FOREVER: Final = "\n    sec: 9223372036\n    nsec: 854775807\n"
_QOS: Final = (
    "- history: 1\n  depth: {depth}\n  reliability: 1\n  durability: {durability}\n"
    f"  deadline:{_FOREVER}  lifespan:{_FOREVER}  liveliness: 1\n  liveliness_lease_duration:{_FOREVER}"
    "  avoid_ros_namespace_conventions: false"
)


@dataclass(frozen=True, slots=True)
class ChannelSpec:
    """One topic of a file: its type, the text of the type, and `offered_qos_profiles` as rosbag2 writes it."""

    id: int
    topic: str
    ros_type: str
    definition: bytes
    qos: str
    schema_encoding: str = "ros2msg"
    message_encoding: str = "cdr"


def image_topic(role: str) -> str:
    """Topic of exactly what the server got from one camera role."""
    return f"/policy/observation/{role}"


def camera_topic(role: str) -> str:
    """Topic of one camera's frames as captured, named as image_transport names it."""
    return f"/{role}{_CAMERA_END}"


def channel_specs() -> dict[str, ChannelSpec]:
    """Topic -> channel of what every episode may have; images come on top as `image_channel`."""
    table = {topic.name: topic.type for topic in TOPICS}
    types = {name: table[name] for name in _SHARED} | _OWN
    return {
        topic: ChannelSpec(number, topic, ros_type, definition_of(ros_type).encode(), _qos_of(topic in _LATCHED))
        for number, (topic, ros_type) in enumerate(types.items(), start=1)
    }


def image_channel(topic: str, number: int) -> ChannelSpec:
    """The channel of an image topic. Raises `EpisodeError` for any other."""
    if not topic.startswith(image_topic("")) and not topic.endswith(_CAMERA_END):
        raise EpisodeError("topic", expected="one of an episode", got=topic)
    return ChannelSpec(number, topic, _IMAGE, definition_of(_IMAGE).encode(), _qos_of(False))


def _qos_of(latched: bool) -> str:
    """`offered_qos_profiles` as rosbag2 writes it: reliable, transient local for latched topics."""
    return _QOS.format(depth=1 if latched else 10, durability=1 if latched else 2)
