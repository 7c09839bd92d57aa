"""The decoders of our own say the same as the generic one, and read nothing but what they know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcap.records import Channel, Schema
from mcap_ros2.decoder import DecoderFactory

from contract.errors import EpisodeError
from contract.layout import URDF_NAMES
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.definitions import definition_of
from robot_client.episodes.known_messages import JointState, known_decoder
from robot_client.episodes.raw_message import RawMessage

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
STAMP_NS = st.integers(0, 2**31 * 10**9 - 1)
VALUES = st.lists(st.floats(width=32), min_size=14, max_size=14).map(np.array)
BLOB = st.binary(max_size=40)


def arrays(dtype: str, elements: st.SearchStrategy) -> st.SearchStrategy[bytes]:
    lists = st.lists(elements, max_size=8)
    return st.builds(lambda label, values: ros.array(np.array(values, dtype)[np.newaxis], [label, ""]), TEXT, lists)


MESSAGES: dict[str, st.SearchStrategy[bytes]] = {
    "std_msgs/msg/String": TEXT.map(ros.text),
    "sensor_msgs/msg/JointState": st.builds(ros.joint_state, STAMP_NS, TEXT, VALUES),
    "sensor_msgs/msg/CompressedImage": st.builds(ros.compressed_image, STAMP_NS, TEXT, TEXT, BLOB),
    "foxglove_msgs/msg/CompressedVideo": st.builds(ros.compressed_video, STAMP_NS, TEXT, TEXT, BLOB),
    "std_msgs/msg/Float64MultiArray": arrays("<f8", st.floats()),
    "std_msgs/msg/Float32MultiArray": arrays("<f4", st.floats(width=32)),
    "std_msgs/msg/Int64MultiArray": arrays("<i8", st.integers(-(2**63), 2**63 - 1)),
    "std_msgs/msg/UInt16MultiArray": arrays("<u2", st.integers(0, 2**16 - 1)),
}


def raw(ros_type: str, data: bytes, definition: str | None = None) -> RawMessage:
    text = definition_of(ros_type) if definition is None else definition
    schema = Schema(id=1, name=ros_type, encoding="ros2msg", data=text.encode())
    channel = Channel(id=1, topic="/t", message_encoding="cdr", metadata={}, schema_id=1)
    return RawMessage("/t", ros_type, 0, 0, 0, data, channel, schema)


def generic_of(ros_type: str) -> Callable[[bytes], Any]:
    decode = DecoderFactory().decoder_for("cdr", raw(ros_type, b"").schema)
    assert decode is not None
    return decode


def plain(value: Any) -> Any:
    """Names and values of a message, whoever made it."""
    if is_dataclass(value):
        return {entry.name: plain(getattr(value, entry.name)) for entry in fields(value)}
    if hasattr(value, "__slots__"):
        return {name: plain(getattr(value, name)) for name in value.__slots__}
    if isinstance(value, np.ndarray | list | tuple):
        return [repr(float(v)) if isinstance(v, float | np.floating) else plain(v) for v in value]
    return int(value) if isinstance(value, np.integer) else value


def ours_and_theirs(ros_type: str, data: bytes) -> tuple[Any, Any]:
    ours = known_decoder(ros_type, definition_of(ros_type).encode())
    assert ours is not None
    return plain(ours(data)), plain(generic_of(ros_type)(data))


@pytest.mark.parametrize("ros_type", MESSAGES)
def test_a_known_message_is_decoded_as_by_the_generic_decoder(ros_type: str) -> None:
    @given(MESSAGES[ros_type])
    def same(data: bytes) -> None:
        ours, theirs = ours_and_theirs(ros_type, data)
        assert ours == theirs

    same()


@pytest.mark.parametrize("ros_type", MESSAGES)
def test_bytes_that_end_too_early_are_an_error_and_never_another_message(ros_type: str) -> None:
    """B37: a message that lost its end inside a chunk whose checksum nobody wrote."""

    @given(MESSAGES[ros_type], st.data())
    def refused(data: bytes, draw: st.DataObject) -> None:
        cut = draw.draw(st.integers(0, len(data) - 1))
        with pytest.raises(EpisodeError, match="/t"):
            Decoder()(raw(ros_type, data[:cut]))

    refused()


def test_names_are_read_anew_when_they_change() -> None:
    decode = Decoder()
    first = raw("sensor_msgs/msg/JointState", ros.joint_state(1, "", np.arange(14.0)))
    other = first.data.replace(URDF_NAMES[0].encode(), URDF_NAMES[0].encode().swapcase())
    assert decode(first).name == URDF_NAMES
    assert decode(raw("sensor_msgs/msg/JointState", other)).name == (URDF_NAMES[0].swapcase(), *URDF_NAMES[1:])
    assert decode(first).name == URDF_NAMES


def test_comments_in_a_definition_do_not_matter_and_other_fields_do() -> None:
    text = definition_of("sensor_msgs/msg/JointState")
    commented = "# what it is\n\n" + text.replace("string[] name", "string[]   name  # of each joint")
    data = ros.joint_state(5, "arm", np.arange(14.0))
    assert isinstance(Decoder()(raw("sensor_msgs/msg/JointState", data, commented)), JointState)
    assert known_decoder("sensor_msgs/msg/JointState", commented.encode()) is not None
    assert known_decoder("sensor_msgs/msg/JointState", text.replace("float64[] effort\n", "").encode()) is None
    assert known_decoder("sensor_msgs/msg/Imu", b"") is None


def test_big_endian_bytes_are_left_to_the_generic_decoder() -> None:
    data = b"\x00\x00\x00\x00" + (3).to_bytes(4, "big") + b"go\0"
    assert Decoder()(raw("std_msgs/msg/String", data)).data == "go"
