"""Topics of an episode: those of `contract.topics`, and what the control loop and the observations add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contract.errors import EpisodeError
from contract.topics import BAG_TOPICS, TOPICS, topic_of
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
IMAGINED: Final = "/policy/imagined"

TICK_AXIS: Final = "tick "
"""Begins the label of the first axis, of length 1, of /loop/tick and /loop/clips; then comes the tick's number."""
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

_IMAGES: Final = ("sensor_msgs/msg/CompressedImage", "foxglove_msgs/msg/CompressedVideo")
"""Types of the topics that come up with the first image of a role."""
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
LATCHED: Final = (MODE, INSTRUCTION)

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
    return f"/{role}/image_raw/compressed"


def video_topic(role: str) -> str:
    """Topic of the same frames as H.264."""
    return f"/{role}/video"


def channel_specs() -> dict[str, ChannelSpec]:
    """Topic -> channel of what every episode may have; images come on top as `image_channel`."""
    table = {topic.name: topic.type for topic in TOPICS}
    own = {topic.name: topic.type for topic in BAG_TOPICS if topic.type not in _IMAGES}
    types = {name: table[name] for name in _SHARED} | own
    return {
        topic: ChannelSpec(number, topic, ros_type, definition_of(ros_type).encode(), _qos_of(topic in LATCHED))
        for number, (topic, ros_type) in enumerate(types.items(), start=1)
    }


def image_channel(topic: str, number: int) -> ChannelSpec:
    """The channel of an image topic. Raises `EpisodeError` for any other."""
    found = topic_of(topic)
    if found is None or found.type not in _IMAGES:
        raise EpisodeError("topic", expected="one of an episode", got=topic)
    return ChannelSpec(number, topic, found.type, definition_of(found.type).encode(), _qos_of(False))


def _qos_of(latched: bool) -> str:
    """`offered_qos_profiles` as rosbag2 writes it: reliable, transient local for latched topics."""
    return _QOS.format(depth=1 if latched else 10, durability=1 if latched else 2)
