"""One MCAP file that grows by whole blocks: after a failed write it is cut back to the last whole one."""

from __future__ import annotations

import dataclasses
import os
import struct
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import ChunkIndex, DataEnd, Footer, Header, Metadata, MetadataIndex, Statistics

from robot_client.episodes.channels import ChannelSpec
from robot_client.episodes.chunk import Block, channel_of, schema_ids, schema_of

MAGIC: Final = b"\x89MCAP0\r\n"
_FOOTER_HEAD: Final = struct.Struct("<BQQQ")


class McapFile:
    """Never opens a file that exists. `OSError` of the disk passes through; what is in the file stays readable."""

    def __init__(self, path: Path, specs: Mapping[str, ChannelSpec], library: str) -> None:
        self.path, self._specs, self._library = path, specs, library
        self._descriptor = -1
        self._offset = 0
        self._chunks: list[ChunkIndex] = []
        self._metadata: list[MetadataIndex] = []
        self.counts: Counter[int] = Counter()
        """Channel id -> messages that are in the file."""
        self.start_ns = self.end_ns = 0
        """ROS time of the first and last message."""

    def open(self) -> None:
        """Create it. Raises `FileExistsError` when it is there already."""
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        builder = RecordBuilder()
        Header("ros2", self._library).write(builder)
        self._write(MAGIC + builder.end())

    def append(self, block: Block) -> None:
        """One chunk with its indexes."""
        start = self._offset
        self._write(block.records)
        offsets = {channel: start + offset for channel, offset in block.index.message_index_offsets.items()}
        self._chunks.append(dataclasses.replace(block.index, chunk_start_offset=start, message_index_offsets=offsets))
        first = not self.counts
        self.counts.update(block.counts)
        self.start_ns = block.index.message_start_time if first else min(self.start_ns, block.index.message_start_time)
        self.end_ns = max(self.end_ns, block.index.message_end_time)

    def note(self, name: str, values: Mapping[str, str]) -> None:
        """A metadata record."""
        builder = RecordBuilder()
        Metadata(name, dict(values)).write(builder)
        record = builder.end()
        start = self._offset
        self._write(record)
        self._metadata.append(MetadataIndex(offset=start, length=len(record), name=name))

    def sync(self) -> None:
        """Wait for the disk itself."""
        os.fdatasync(self._descriptor)

    def finish(self) -> None:
        """Summary, footer, close."""
        builder = RecordBuilder()
        DataEnd(0).write(builder)
        end = builder.end()
        summary = self._summary()
        start = self._offset + len(end)
        crc = zlib.crc32(_FOOTER_HEAD.pack(Opcode.FOOTER, 20, start, 0), zlib.crc32(summary))
        Footer(summary_start=start, summary_offset_start=0, summary_crc=crc).write(builder)
        self._write(end + summary + builder.end() + MAGIC)
        self.sync()
        self.close()

    def close(self) -> None:
        """Leave it as it is."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _summary(self) -> bytes:
        builder, ids = RecordBuilder(), schema_ids(self._specs.values())
        schemas = {ids[spec.ros_type]: schema_of(spec, ids) for spec in self._specs.values()}
        channels = [channel_of(spec, ids) for spec in self._specs.values()]
        for record in (*schemas.values(), *channels):
            record.write(builder)
        Statistics(
            attachment_count=0,
            channel_count=len(channels),
            channel_message_counts=dict(self.counts),
            chunk_count=len(self._chunks),
            message_count=self.counts.total(),
            message_end_time=self.end_ns,
            message_start_time=self.start_ns,
            metadata_count=len(self._metadata),
            schema_count=len(schemas),
        ).write(builder)
        for index in (*self._chunks, *self._metadata):
            index.write(builder)
        return builder.end()

    def _write(self, data: bytes) -> None:
        """All of it or, after cutting the file back, `OSError`."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            os.ftruncate(self._descriptor, self._offset)
            os.lseek(self._descriptor, self._offset, os.SEEK_SET)
            raise
        self._offset += len(data)
