"""Schemas and channels of an MCAP file as far as it is read, and the messages that refer to them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from io import BytesIO
from typing import Final

from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Schema

from robot_client.episodes.raw_message import RawMessage

_MESSAGE: Final = struct.Struct("<HIQQ")
_ID: Final = struct.Struct("<H")


class McapTables:
    """`define` and `message` as records come; a record must be defined before it is referred to."""

    def __init__(self) -> None:
        self._schemas: dict[int, Schema] = {}
        self._channels: dict[int, Channel] = {}
        self._records: dict[tuple[int, bytes], bytes] = {}
        """Newest definition of each kind and id: chunks repeat them, and parsing them anew would take longest."""
        self._meanings: dict[int, tuple[str, str, Channel, Schema | None]] = {}
        """Channel id -> topic, type, channel, schema."""

    def define(self, opcode: int, payload: bytes) -> None:
        """A schema or a channel; any other record is passed over."""
        if opcode not in (Opcode.SCHEMA, Opcode.CHANNEL):
            return
        key = (opcode, payload[: _ID.size])
        if self._records.get(key) == payload:
            return
        stream = ReadDataStream(BytesIO(payload))
        if opcode == Opcode.SCHEMA:
            schema = Schema.read(stream)
            self._schemas[schema.id] = schema
        else:
            channel = Channel.read(stream)
            self._channels[channel.id] = channel
        self._records[key] = payload
        self._meanings.clear()

    def message(
        self, data: bytes, start: int, end: int, wanted: Callable[[str], bool] | None
    ) -> tuple[int, RawMessage | None]:
        """Channel id and message of the record whose content is data[start:end]; no message for a topic not wanted.

        Raises `struct.error` when it is too short, `KeyError` when its channel is not defined.
        """
        if end - start < _MESSAGE.size:
            raise struct.error(f"a message of {end - start} bytes")
        channel_id, sequence, log_ns, publish_ns = _MESSAGE.unpack_from(data, start)
        topic, name, channel, schema = self._meanings.get(channel_id) or self._meaning(channel_id)
        if wanted is not None and not wanted(topic):
            return channel_id, None
        content = data[start + _MESSAGE.size : end]
        return channel_id, RawMessage(topic, name, log_ns, publish_ns, sequence, content, channel, schema)

    def _meaning(self, channel_id: int) -> tuple[str, str, Channel, Schema | None]:
        channel = self._channels[channel_id]
        schema = self._schemas.get(channel.schema_id)
        meaning = (channel.topic, "" if schema is None else schema.name, channel, schema)
        self._meanings[channel_id] = meaning
        return meaning
