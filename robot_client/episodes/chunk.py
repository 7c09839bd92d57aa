"""Messages of up to a second as one MCAP chunk. Each repeats the definitions it needs, so it can be read alone."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, ChunkIndex, MessageIndex, Schema

from robot_client.episodes.channels import ChannelSpec

LEVEL: Final = 1
"""zstd level: joints shrink to a third; images are compressed already."""
_MESSAGE: Final = struct.Struct("<BQHIQQ")
_HEAD: Final = _MESSAGE.size - 9
"""Bytes of a message record between its length and its data."""


def schema_ids(specs: Iterable[ChannelSpec]) -> dict[str, int]:
    """Type -> schema id, from 1, in order of first use."""
    return {name: number for number, name in enumerate(dict.fromkeys(spec.ros_type for spec in specs), start=1)}


def definition_records(specs: Mapping[str, ChannelSpec]) -> dict[int, bytes]:
    """Channel id -> its schema and channel records. Ids stay the same when `specs` grows at its end."""
    ids = schema_ids(specs.values())
    records: dict[int, bytes] = {}
    for spec in specs.values():
        builder = RecordBuilder()
        schema_of(spec, ids).write(builder)
        channel_of(spec, ids).write(builder)
        records[spec.id] = builder.end()
    return records


def schema_of(spec: ChannelSpec, ids: Mapping[str, int]) -> Schema:
    """The schema record of a channel's type."""
    return Schema(id=ids[spec.ros_type], name=spec.ros_type, encoding=spec.schema_encoding, data=spec.definition)


def channel_of(spec: ChannelSpec, ids: Mapping[str, int]) -> Channel:
    """The channel record, profile ros2."""
    return Channel(
        id=spec.id,
        topic=spec.topic,
        message_encoding=spec.message_encoding,
        metadata={"offered_qos_profiles": spec.qos},
        schema_id=ids[spec.ros_type],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A chunk ready to be written: `records` are its bytes; offsets in `index` count from its first byte."""

    records: bytes
    index: ChunkIndex
    counts: Mapping[int, int]
    """Channel id -> messages."""


@dataclass(frozen=True, slots=True, eq=False)
class RawChunk:
    """Messages before compression. `entries`: channel id -> (log time, offset in data)."""

    data: bytes
    entries: Mapping[int, list[tuple[int, int]]]
    start_ns: int
    end_ns: int

    @property
    def counts(self) -> Counter[int]:
        """Channel id -> messages."""
        return Counter({channel: len(entries) for channel, entries in self.entries.items()})

    def compressed(self) -> Block:
        """The chunk record and its message indexes."""
        packed = zstandard.ZstdCompressor(level=LEVEL).compress(self.data)
        builder = RecordBuilder()
        chunk = Chunk(
            compression="zstd",
            data=packed,
            message_start_time=self.start_ns,
            message_end_time=self.end_ns,
            uncompressed_crc=zlib.crc32(self.data),
            uncompressed_size=len(self.data),
        )
        chunk.write(builder)
        length, offsets = builder.count, {}
        for channel, entries in self.entries.items():
            offsets[channel] = builder.count
            MessageIndex(channel, entries).write(builder)
        index = ChunkIndex(
            chunk_length=length,
            chunk_start_offset=0,
            compression="zstd",
            compressed_size=len(packed),
            message_end_time=self.end_ns,
            message_index_length=builder.count - length,
            message_index_offsets=offsets,
            message_start_time=self.start_ns,
            uncompressed_size=len(self.data),
        )
        return Block(builder.end(), index, self.counts)


class ChunkBuilder:
    """Collects messages; `finish` hands them over and begins anew."""

    def __init__(self, definitions: Mapping[int, bytes]) -> None:
        self._definitions = definitions
        self._data = bytearray()
        self._entries: dict[int, list[tuple[int, int]]] = {}
        self._start_ns: int = 0
        self._end_ns: int = 0

    @property
    def size(self) -> int:
        """Bytes collected."""
        return len(self._data)

    @property
    def empty(self) -> bool:
        """No message yet."""
        return not self._entries

    def add(self, channel: int, sequence: int, log_ns: int, data: bytes) -> None:
        """One message; log_ns is both its time in the file and its time of publishing."""
        if channel not in self._entries:
            self._data += self._definitions[channel]
            self._entries[channel] = []
        self._entries[channel].append((log_ns, len(self._data)))
        self._data += _MESSAGE.pack(Opcode.MESSAGE, _HEAD + len(data), channel, sequence % 2**32, log_ns, log_ns)
        self._data += data
        self._start_ns = min(self._start_ns, log_ns) if self._start_ns else log_ns
        self._end_ns = max(self._end_ns, log_ns)

    def finish(self) -> RawChunk:
        """What was collected."""
        chunk = RawChunk(bytes(self._data), self._entries, self._start_ns, self._end_ns)
        self._clear()
        return chunk

    def _clear(self) -> None:
        self._data = bytearray()
        self._entries = {}
        self._start_ns = self._end_ns = 0
