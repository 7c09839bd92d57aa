"""Reads one sqlite3 file of rosbag2, the default before Iron. Definitions it lacks are those that we know."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mcap.records import Channel, Schema

from contract.errors import EpisodeError
from robot_client.episodes.definitions import definition_of
from robot_client.episodes.mcap_scan import Damage
from robot_client.episodes.raw_message import RawMessage


@dataclass(slots=True, eq=False)
class SqliteScan:
    """One pass over one file; the same to its reader as `McapScan`."""

    path: Path
    damages: list[Damage] = field(default_factory=list)
    notes: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Always empty: sqlite3 bags have no metadata records."""
    finished: bool = False

    def messages(self, wanted: Callable[[str], bool] | None = None) -> Iterator[RawMessage]:
        """All messages in the order of their time, or those of the topics that are `wanted`.

        Raises `EpisodeError` when it cannot be opened.
        """
        if not self.path.is_file():
            raise EpisodeError(f"{self.path}", expected="a readable file", got="none")
        connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            yield from self._messages(connection, wanted)
            self.finished = True
        except sqlite3.DatabaseError as error:
            self.damages.append(Damage(0, self.path.stat().st_size, f"the database cannot be read: {error}"))
        finally:
            connection.close()

    @staticmethod
    def _messages(connection: sqlite3.Connection, wanted: Callable[[str], bool] | None) -> Iterator[RawMessage]:
        channels = _channels(connection)
        rows = connection.execute("SELECT topic_id, timestamp, data FROM messages ORDER BY timestamp, id")
        counts = dict.fromkeys(channels, 0)
        for topic_id, stamp_ns, data in rows:
            if topic_id in channels:
                channel, schema = channels[topic_id]
                if wanted is None or wanted(channel.topic):
                    yield RawMessage(
                        channel.topic, schema.name, stamp_ns, stamp_ns, counts[topic_id], bytes(data), channel, schema
                    )
                counts[topic_id] += 1


def _channels(connection: sqlite3.Connection) -> dict[int, tuple[Channel, Schema]]:
    definitions = _definitions(connection)
    found = {}
    rows = connection.execute("SELECT id, name, type, serialization_format, offered_qos_profiles FROM topics")
    for number, name, ros_type, encoding, qos in rows:
        text = definitions.get(ros_type) or _known(ros_type)
        schema = Schema(id=number, name=ros_type, encoding="ros2msg" if text else "", data=text)
        channel = Channel(
            id=number,
            topic=name,
            message_encoding=encoding,
            metadata={"offered_qos_profiles": qos or ""},
            schema_id=number,
        )
        found[number] = (channel, schema)
    return found


def _definitions(connection: sqlite3.Connection) -> dict[str, bytes]:
    """Type -> definition, where the bag has them (Iron and later)."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "message_definitions" not in tables:
        return {}
    rows = connection.execute("SELECT topic_type, encoding, encoded_message_definition FROM message_definitions")
    return {ros_type: text.encode() for ros_type, encoding, text in rows if encoding == "ros2msg"}


def _known(ros_type: str) -> bytes:
    try:
        return definition_of(ros_type).encode()
    except KeyError:
        return b""
