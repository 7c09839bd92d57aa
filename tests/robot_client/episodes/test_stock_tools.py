"""Bags that stock tools wrote are read, and what we write is read by stock tools: rosbags, mcap, Rerun's reader."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml
from mcap.records import Chunk, MessageIndex
from mcap.stream_reader import StreamReader, get_chunk_data_stream
from rosbags.highlevel import AnyReader
from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from contract.errors import EpisodeError
from contract.layout import GRIPPER_MASK, GRIPPER_TRAVEL_M, URDF_NAMES
from robot_client.episodes.bag_metadata import RECORD
from robot_client.episodes.channels import channel_specs, image_channel, video_topic
from robot_client.episodes.definitions import definition_of
from robot_client.episodes.export import Export, export
from robot_client.episodes.formats.bag_images import raw_image
from robot_client.episodes.formats.choose import open_episode
from robot_client.episodes.formats.entries import Driver, Joints, Picture
from robot_client.episodes.info import info_of
from robot_client.episodes.reader import BagReader
from robot_client.episodes.recover import recover
from tests.robot_client.episodes import made
from tests.robot_client.episodes.foreign import action_at, peer, shade, state_at

STORE = get_typestore(Stores.ROS2_JAZZY)
START_NS = 1_700_000_000_000_000_000
STEP_NS = 20_000_000
COUNT = 60
_T = STORE.types
_STORAGES = [StoragePlugin.SQLITE3, StoragePlugin.MCAP]


def header(ns: int) -> object:
    stamp = _T["builtin_interfaces/msg/Time"](sec=ns // 10**9, nanosec=ns % 10**9)
    return _T["std_msgs/msg/Header"](stamp=stamp, frame_id="")


def joint_state(ns: int, values: np.ndarray, names: list[str]) -> object:
    urdf = dict(zip(URDF_NAMES, np.where(GRIPPER_MASK, values * GRIPPER_TRAVEL_M, values), strict=True))
    nothing = np.zeros(0)
    positions = np.array([urdf[name] for name in names])
    kind = _T["sensor_msgs/msg/JointState"]
    return kind(header=header(ns), name=names, position=positions, velocity=nothing, effort=nothing)


def raw(ns: int, value: int) -> object:
    """bgr8 with rows padded to 200 bytes."""
    data = np.full((48, 200), 255, np.uint8)
    data[:, : 64 * 3] = value
    kind = _T["sensor_msgs/msg/Image"]
    return kind(
        header=header(ns), height=48, width=64, encoding="bgr8", is_bigendian=0, step=200, data=data.reshape(-1)
    )


def stock_bag(
    folder: Path, storage: StoragePlugin, compression: CompressionMode, names: list[str] | None = None
) -> Path:
    """As `ros2 bag record` leaves it: joints in another order, raw images, arrival a little after the stamp."""
    names = names or list(URDF_NAMES[::-1])
    with_images = {"/joint_states": "JointState", "/joint_commands": "JointState", "/top/image_raw": "Image"}
    writer = Writer(folder, version=9, storage_plugin=storage)
    if compression is not CompressionMode.NONE:
        writer.set_compression(compression, CompressionFormat.ZSTD)
    with writer:
        links = {t: writer.add_connection(t, f"sensor_msgs/msg/{k}", typestore=STORE) for t, k in with_images.items()}
        for i in range(COUNT):
            ns = START_NS + i * STEP_NS
            said = {"/joint_states": joint_state(ns, state_at(i / 2), names)}
            said["/joint_commands"] = joint_state(ns + 1000, action_at(i / 2), names)
            said["/top/image_raw"] = raw(ns - 3_000_000, shade(i))
            for topic, message in said.items():
                data = STORE.serialize_cdr(message, links[topic].msgtype)
                writer.write(links[topic], ns + 5_000_000, data)
    return folder


@pytest.mark.parametrize("storage", _STORAGES)
@pytest.mark.parametrize(
    "compression", [CompressionMode.NONE, CompressionMode.MESSAGE, CompressionMode.FILE, CompressionMode.STORAGE]
)
def test_bags_of_rosbags_are_read_in_every_storage_and_compression(
    tmp_path: Path, storage: StoragePlugin, compression: CompressionMode
) -> None:
    if (storage, compression) == (StoragePlugin.SQLITE3, CompressionMode.STORAGE):
        pytest.skip("sqlite3 has no compression of its own")
    source = open_episode(stock_bag(tmp_path / "bag", storage, compression))
    entries = list(source.entries())
    assert source.missing == () and info_of(tmp_path / "bag").messages == 3 * COUNT
    told = [e for e in entries if isinstance(e, Joints) and e.kind == "told"]
    np.testing.assert_allclose([e.values for e in told], [action_at(i / 2) for i in range(COUNT)], atol=1e-12)
    assert [e.stamp_ns for e in told] == [START_NS + 1000 + i * STEP_NS for i in range(COUNT)], "not the arrival"
    pictures = [e for e in entries if isinstance(e, Picture)]
    assert [e.rgb().mean() for e in pictures] == [shade(i) for i in range(COUNT)] and pictures[0].role == "top"
    stamps = [entry.stamp_ns for entry in entries]
    assert stamps == sorted(stamps)
    assert [e.source for e in entries if isinstance(e, Driver)] == ["unrecorded"]


def test_a_bag_in_two_files_is_one_episode(tmp_path: Path) -> None:
    """B41: split by the recorder; also where metadata.yaml is gone."""
    first = stock_bag(tmp_path / "bag", StoragePlugin.MCAP, CompressionMode.NONE)
    second = made.record(tmp_path / "other", ticks=100, replans=0)
    (first / "metadata.yaml").unlink()
    (first / "bag.mcap").rename(first / "bag_0.mcap")
    (second / f"{second.name}_0.mcap").rename(first / "bag_1.mcap")
    assert info_of(first).counts["/joint_commands"] == COUNT + 100


def test_only_some_joints_are_refused_by_name_and_not_filled_with_zeros(tmp_path: Path) -> None:
    """B40: arms without grippers."""
    arms = [name for name in URDF_NAMES if "joint7" not in name]
    folder = stock_bag(tmp_path / "bag", StoragePlugin.MCAP, CompressionMode.NONE, arms)
    with pytest.raises(EpisodeError, match="left_gripper") as caught:
        list(open_episode(folder).entries())
    assert "14 joints by name" in str(caught.value)


@pytest.mark.parametrize("encoding", ["yuv422", "16UC1"])
def test_images_that_are_not_known_are_refused_with_those_that_are(encoding: str) -> None:
    image = raw(START_NS, 3)
    image.encoding = encoding  # type: ignore[attr-defined]
    with pytest.raises(EpisodeError, match=f"rgb8, bgr8.*{encoding}"):
        raw_image(image, "/top/image_raw")


def opened(folder: Path) -> Counter[str]:
    """Messages by topic as rosbags counts them, each decoded by it."""
    counts: Counter[str] = Counter()
    with AnyReader([folder]) as reader:
        for connection, _, data in reader.messages():
            reader.deserialize(data, connection.msgtype)
            counts[connection.topic] += 1
    return counts


def test_what_was_recovered_opens_in_a_stock_reader(tmp_path: Path) -> None:
    """B37: and has there the messages that were said to be saved."""
    folder = made.record(tmp_path / "episodes", ticks=600, replans=2)
    file = folder / f"{folder.name}_0.mcap"
    file.write_bytes(file.read_bytes()[:-20_000])
    saved = recover(folder, tmp_path / "saved")
    assert not saved.complete and opened(tmp_path / "saved").total() == saved.messages > 1000


def test_an_imported_episode_and_a_plain_bag_open_in_a_stock_reader(tmp_path: Path) -> None:
    export([peer(tmp_path / "ep")], "rosbag", Export(tmp_path / "bag"), lambda line: None)
    assert opened(tmp_path / "bag") == info_of(tmp_path / "bag").counts


def test_rerun_reads_our_bags_by_its_own_reader(tmp_path: Path) -> None:
    """Its importer for MCAP: images and joints under our topics."""
    pytest.importorskip("rerun", reason="needs rerun-sdk")
    from rerun.chunk import McapReader

    from tests.robot_client.episodes.test_topics import full_recording

    folder = full_recording(tmp_path, "h264")
    seen: Counter[str] = Counter()
    for chunk in McapReader(folder / f"{folder.name}_0.mcap").stream():
        seen[str(chunk.entity_path)] += chunk.num_rows
    assert seen["/top/video"] >= 30 and seen["/joint_states"] >= 300 and seen["/policy/imagined"] >= 4


STANDARD = sorted({spec.ros_type for spec in channel_specs().values()} | {"sensor_msgs/msg/CompressedImage"})
POLICIES = {"history": (0, 3), "reliability": (0, 4), "durability": (0, 4), "liveliness": (0, 5)}


@pytest.mark.parametrize("ros_type", STANDARD)
def test_a_definition_is_that_of_ros_to_the_hash_of_the_type(ros_type: str) -> None:
    """RIHS01 covers the names, types and order of all fields, of contained messages too; only comments are free."""
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(definition_of(ros_type), ros_type))
    assert store.hash_rihs01(ros_type) == STORE.hash_rihs01(ros_type)


def profiles_of(text: str) -> list[dict]:
    """`offered_qos_profiles` as `ros2 bag` takes it where metadata.yaml is of version 8: policies are numbers."""
    profiles = yaml.safe_load(text)
    for profile in profiles:
        for policy, (low, high) in POLICIES.items():
            assert type(profile[policy]) is int and low <= profile[policy] <= high, policy
        for duration in ("deadline", "lifespan", "liveliness_lease_duration"):
            assert {type(profile[duration][part]) for part in ("sec", "nsec")} == {int}
        assert profile["avoid_ros_namespace_conventions"] is False
    return profiles


def check_for_ros2_bag(folder: Path) -> None:
    """metadata.yaml, and in the file the same, which `ros2 bag` needs when somebody copied the .mcap alone."""
    information = yaml.safe_load((folder / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    reader = BagReader(folder)
    channels = {message.topic: message.channel for message in reader.messages()}
    assert information["version"] == 8 and information["storage_identifier"] == "mcap"
    assert yaml.safe_load(reader.notes[RECORD]["serialized_metadata"]) == information
    topics = {
        entry["topic_metadata"]["name"]: entry["topic_metadata"] for entry in information["topics_with_message_count"]
    }
    assert set(topics) == set(channels)
    for name, channel in channels.items():
        assert profiles_of(topics[name]["offered_qos_profiles"] or "[]") == profiles_of(
            channel.metadata["offered_qos_profiles"] or "[]"
        )
    assert all(type(value) is str for pair in information["custom_data"].items() for value in pair)


def test_what_ros2_bag_reads_first_is_in_every_bag_of_ours(tmp_path: Path) -> None:
    folder = made.record(tmp_path / "episodes", ticks=200, replans=2)
    check_for_ros2_bag(folder)
    recover(folder, tmp_path / "again")
    check_for_ros2_bag(tmp_path / "again")
    export([folder], "rosbag", Export(tmp_path / "bag"), lambda line: None)
    check_for_ros2_bag(next((tmp_path / "bag").glob("*/metadata.yaml"), tmp_path / "bag" / "metadata.yaml").parent)


def test_policies_by_name_of_a_newer_bag_become_numbers_in_a_copy(tmp_path: Path) -> None:
    """A copy of a bag of Jazzy said version 8 and had names: `ros2 bag info` refused it."""
    forever = QosTime(9223372036, 854775807)
    latched = Qos(
        QosHistory.KEEP_LAST, 1, QosReliability.RELIABLE, QosDurability.TRANSIENT_LOCAL, forever, forever,
        QosLiveliness.AUTOMATIC, forever, False,
    )  # fmt: skip
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        link = writer.add_connection("/mode", "std_msgs/msg/String", typestore=STORE, offered_qos_profiles=[latched])
        message = STORE.serialize_cdr(_T["std_msgs/msg/String"](data="{}"), link.msgtype)
        writer.write(link, START_NS, message)
    assert "reliable" in next(BagReader(tmp_path / "bag").messages()).channel.metadata["offered_qos_profiles"]
    recover(tmp_path / "bag", tmp_path / "copy")
    check_for_ros2_bag(tmp_path / "copy")
    (profile,) = profiles_of(next(BagReader(tmp_path / "copy").messages()).channel.metadata["offered_qos_profiles"])
    assert (profile["reliability"], profile["durability"], profile["depth"]) == (1, 1, 1)


def test_chunks_and_their_indexes_say_what_is_in_them(tmp_path: Path) -> None:
    """What `mcap doctor` checks of each chunk: times, checksum, and an index entry at each message."""
    folder = made.record(tmp_path, ticks=600, replans=3)
    chunk: Chunk | None = None
    places: dict[int, list[tuple[int, int]]] = {}
    checked = 0
    with (folder / f"{folder.name}_0.mcap").open("rb") as file:
        for record in StreamReader(file, emit_chunks=True, validate_crcs=True).records:
            if isinstance(record, Chunk):
                assert not places, "every channel of the chunk before had its index"
                chunk, places = record, messages_in(record)
                times = [time for entries in places.values() for time, _ in entries]
                assert (chunk.message_start_time, chunk.message_end_time) == (min(times), max(times))
            elif isinstance(record, MessageIndex):
                assert sorted(record.records) == sorted(places.pop(record.channel_id))
                checked += len(record.records)
    assert not places and checked == info_of(folder).messages


def messages_in(chunk: Chunk) -> dict[int, list[tuple[int, int]]]:
    """Channel id -> (log time, offset) of each message, found by walking through the chunk."""
    stream, _ = get_chunk_data_stream(chunk, validate_crc=True)
    found: dict[int, list[tuple[int, int]]] = {}
    while stream.count < chunk.uncompressed_size:
        offset, opcode, length = stream.count, stream.read1(), stream.read8()
        content = stream.read(length)
        if opcode == 5:
            channel, log_ns = int.from_bytes(content[:2], "little"), int.from_bytes(content[6:14], "little")
            found.setdefault(channel, []).append((log_ns, offset))
    return found


def test_a_video_has_the_definition_of_foxglove_and_a_policy_as_the_others() -> None:
    spec = image_channel(video_topic("top"), 1)
    assert spec.ros_type == "foxglove_msgs/msg/CompressedVideo"
    types = get_types_from_msg(spec.definition.decode(), spec.ros_type)
    assert [name for name, _ in types[spec.ros_type][1]] == ["timestamp", "frame_id", "data", "format"]
    assert profiles_of(spec.qos)
