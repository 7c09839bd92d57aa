"""One reader: stock bags of both kinds, compressions, order, and bounded memory."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from mcap.writer import CompressionType
from mcap_ros2.writer import Writer

from contract.errors import EpisodeError
from robot_client.episodes import reader as reader_module
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.course import course_of
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.info import info_of
from robot_client.episodes.reader import BagReader
from robot_client.episodes.recover import recover
from tests.robot_client.episodes import made
from tests.robot_client.stage import HOME


def sqlite_bag(folder: Path, count: int, definitions: bool) -> Path:
    """As rosbag2 writes it: Humble without, Jazzy with definitions."""
    folder.mkdir()
    with sqlite3.connect(folder / "bag_0.db3") as bag:
        bag.execute(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
            "serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL)"
        )
        bag.execute(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, "
            "data BLOB NOT NULL)"
        )
        if definitions:
            bag.execute(
                "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT, encoding TEXT, "
                "encoded_message_definition TEXT, type_description_hash TEXT)"
            )
            text = "string data\n"
            bag.execute("INSERT INTO message_definitions VALUES (1, 'other_msgs/msg/Note', 'ros2msg', ?, '')", (text,))
        bag.execute("INSERT INTO topics VALUES (1, '/joint_commands', 'sensor_msgs/msg/JointState', 'cdr', '')")
        bag.execute("INSERT INTO topics VALUES (2, '/note', 'other_msgs/msg/Note', 'cdr', '')")
        for i in range(count):
            stamp_ns = made.OFFSET_NS + i * made.PERIOD_NS
            told = ros.joint_state(stamp_ns, "", HOME + made.WAY * 0.001 * i)
            bag.execute("INSERT INTO messages VALUES (?, 1, ?, ?)", (2 * i, stamp_ns, told))
            bag.execute("INSERT INTO messages VALUES (?, 2, ?, ?)", (2 * i + 1, stamp_ns, ros.text(f"note {i}")))
    return folder


def test_a_sqlite_bag_is_read_by_our_own_definitions(tmp_path: Path) -> None:
    folder = sqlite_bag(tmp_path / "bag", 50, definitions=False)
    course = course_of(folder)
    assert len(course.times_ns) == 50 and course.duration_ns == 49 * made.PERIOD_NS
    np.testing.assert_allclose(course.values[49], HOME + made.WAY * 0.049, atol=1e-12)
    assert info_of(folder).counts == {"/joint_commands": 50, "/note": 50}
    with pytest.raises(EpisodeError, match="/note"):
        Decoder()(next(BagReader(folder).messages(["/note"])))


def test_a_sqlite_bag_with_definitions_is_read_by_those_and_becomes_an_mcap(tmp_path: Path) -> None:
    folder = sqlite_bag(tmp_path / "bag", 50, definitions=True)
    assert Decoder()(next(BagReader(folder).messages(["/note"]))).data == "note 0"
    assert recover(folder, tmp_path / "as_mcap").complete
    notes = [Decoder()(message).data for message in BagReader(tmp_path / "as_mcap").messages(["/note"])]
    assert notes == [f"note {i}" for i in range(50)]


def test_a_broken_database_is_named_and_does_not_crash(tmp_path: Path) -> None:
    """B37: for the other storage."""
    folder = sqlite_bag(tmp_path / "bag", 50, definitions=False)
    data = bytearray((folder / "bag_0.db3").read_bytes())
    data[len(data) // 3 : len(data) // 2] = bytes(len(data) // 2 - len(data) // 3)
    (folder / "bag_0.db3").write_bytes(data)
    assert not info_of(folder).complete
    (folder / "bag_0.db3").write_bytes(b"not a database at all" * 100)
    assert info_of(folder).messages == 0 and not info_of(folder).complete


@pytest.mark.parametrize("compression", list(CompressionType))
def test_stock_mcap_files_of_every_compression_are_read(tmp_path: Path, compression: CompressionType) -> None:
    writer = Writer(str(tmp_path / "x.mcap"), chunk_size=1000, compression=compression)
    schema = writer.register_msgdef("std_msgs/msg/String", "string data\n")
    for i in range(200):
        writer.write_message("/s", schema, {"data": f"{i}"}, log_time=i, publish_time=i, sequence=i)
    writer.finish()
    decode = Decoder()
    assert [decode(message).data for message in BagReader(tmp_path / "x.mcap").messages()] == [
        f"{i}" for i in range(200)
    ]


def test_messages_come_in_the_order_of_time_though_senders_write_in_batches(tmp_path: Path) -> None:
    folder = made.record(tmp_path, ticks=500, replans=5)
    stamps = [message.log_ns for message in BagReader(folder).messages()]
    assert stamps == sorted(stamps)


def test_what_waits_for_its_turn_is_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B37: raw images of many cameras must not fill the memory within the two seconds."""
    folder = made.record(tmp_path, ticks=500, replans=5)
    whole = sorted((m.topic, m.sequence, m.log_ns) for m in BagReader(folder).messages())
    monkeypatch.setattr(reader_module, "_MOST_WAITING_BYTES", 10_000)
    taken: list[int] = []
    push = reader_module.heapq.heappush

    def counting(heap: list, item: tuple) -> None:
        push(heap, item)
        taken.append(sum(len(entry[2].data) for entry in heap) - len(item[2].data))

    monkeypatch.setattr(reader_module.heapq, "heappush", counting)
    assert sorted((m.topic, m.sequence, m.log_ns) for m in BagReader(folder).messages()) == whole
    assert max(taken) <= 10_000
