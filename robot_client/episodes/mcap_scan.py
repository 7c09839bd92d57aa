"""Reads one MCAP file from front to back, a record at a time: whole files, cut ones and damaged ones.

Nothing of a size that the file only claims is allocated. What cannot be read is left out and reported in `damages`;
after it the reading goes on at the next record that makes sense, or at the next chunk.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Metadata

from contract.errors import EpisodeError
from robot_client.episodes.mcap_chunk import BadChunkError, ChunkHead, find_chunk, unpacked
from robot_client.episodes.mcap_file import MAGIC
from robot_client.episodes.mcap_tables import McapTables
from robot_client.episodes.raw_message import RawMessage

MAX_RECORD_BYTES: Final = 96 * 1024 * 1024
_HEAD: Final = struct.Struct("<BQ")
_INDEX: Final = struct.Struct("<HI")
_INDEX_ENTRY_BYTES: Final = 16
HEAD_BYTES: Final = _HEAD.size
_KNOWN: Final = frozenset(int(opcode) for opcode in Opcode)
_FIXED: Final = {int(Opcode.FOOTER): 20, int(Opcode.DATA_END): 4}
"""Records that end the data: only with the length they must have is one of them believed."""


@dataclass(slots=True)
class Damage:
    """A stretch of the file that could not be read."""

    offset: int
    length: int
    what: str
    messages: int | None = None
    """How many messages were in it, where the indexes behind it still say so."""
    start_ns: int | None = None
    end_ns: int | None = None


@dataclass(slots=True, eq=False)
class McapScan:
    """One pass over one file; `messages` may be called once."""

    path: Path
    damages: list[Damage] = field(default_factory=list)
    notes: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Metadata records so far."""
    finished: bool = False
    """Footer and closing magic were there."""
    _tables: McapTables = field(default_factory=McapTables)
    _wanted: Callable[[str], bool] | None = None
    _bad_chunk: Damage | None = None
    _chunk_counts: Counter[int] = field(default_factory=Counter)
    """Messages per channel of the newest chunk, less what the indexes behind it have accounted for."""

    def messages(self, wanted: Callable[[str], bool] | None = None) -> Iterator[RawMessage]:
        """All messages that can be read, in the order of the file, or those of the topics that are `wanted`.

        Raises `EpisodeError` when it cannot be opened.
        """
        self._wanted = wanted
        try:
            size = self.path.stat().st_size
            with self.path.open("rb") as file:
                yield from self._messages(file, size)
        except OSError as error:
            raise EpisodeError(f"{self.path}", expected="a readable file", got=error.strerror) from error

    def _messages(self, file: BinaryIO, size: int) -> Iterator[RawMessage]:
        position = len(MAGIC)
        if file.read(len(MAGIC)) != MAGIC:
            self._damage(0, min(size, len(MAGIC)), "the file does not begin as an MCAP file")
        while position < size:
            opcode, length = self.head_at(file, position)
            end = position + _HEAD.size + length
            if not plausible(opcode, length) or end > size:
                position = self._resume(file, position, size)
                continue
            payload = file.read(length)
            if opcode in (Opcode.FOOTER, Opcode.DATA_END):
                self._close(file, size)
                return
            yield from self.record(opcode, payload, position)
            position = end
        self._damage(size, 0, "the file ends without a footer: it was cut off or never closed")

    @staticmethod
    def head_at(file: BinaryIO, position: int) -> tuple[int, int]:
        """Opcode and length at `position`; (0, 0) when there is not even that much."""
        file.seek(position)
        head = file.read(_HEAD.size)
        return _HEAD.unpack(head) if len(head) == _HEAD.size else (0, 0)

    def _resume(self, file: BinaryIO, position: int, size: int) -> int:
        """Where to go on after a record that makes no sense: at the next chunk, or at the end."""
        found = find_chunk(file, position + 1, size)
        what = "the file is cut off inside a record" if found is None else "a record that makes no sense"
        self._damage(position, (size if found is None else found) - position, what)
        return size if found is None else found

    def _close(self, file: BinaryIO, size: int) -> None:
        """The data is over. Whatever is wrong behind it costs no message."""
        file.seek(max(0, size - len(MAGIC)))
        self.finished = file.read(len(MAGIC)) == MAGIC
        if not self.finished:
            self._damage(size - len(MAGIC), len(MAGIC), "the closing mark is missing; no message is lost by that")

    def record(self, opcode: int, payload: bytes, position: int) -> Iterator[RawMessage]:
        """Messages of one record; what it defines is kept for those that follow."""
        try:
            if opcode == Opcode.CHUNK:
                yield from self._chunk(payload, position)
            elif opcode == Opcode.METADATA:
                record = Metadata.read(_stream(payload))
                self.notes.append((record.name, record.metadata))
            elif opcode == Opcode.MESSAGE_INDEX:
                self._check_index(payload, position)
            elif opcode == Opcode.MESSAGE:
                yield from self._messages_in(_HEAD.pack(opcode, len(payload)) + payload)
            else:
                self._tables.define(opcode, payload)
        except (BadChunkError, struct.error, McapError, UnicodeDecodeError, KeyError) as error:
            self._damage(position, _HEAD.size + len(payload), f"record {opcode}: {error}")

    def _chunk(self, payload: bytes, position: int) -> Iterator[RawMessage]:
        self._bad_chunk, self._chunk_counts = None, Counter()
        head = ChunkHead.of(payload)
        try:
            data = unpacked(head)
        except BadChunkError as error:
            self._bad_chunk = self._damage(position, _HEAD.size + len(payload), f"a chunk is damaged: {error}")
            self._bad_chunk.start_ns, self._bad_chunk.end_ns = head.start_ns, head.end_ns
            return
        yield from self._messages_in(data)

    def _messages_in(self, data: bytes) -> Iterator[RawMessage]:
        """Messages among records that may lie inside or outside a chunk. The one loop that sees every message."""
        at, end, counts, wanted = 0, len(data), self._chunk_counts, self._wanted
        head, head_bytes, tables, message = _HEAD.unpack_from, _HEAD.size, self._tables, int(Opcode.MESSAGE)
        while at + head_bytes <= end:
            opcode, length = head(data, at)
            at += head_bytes
            if opcode == message:
                channel_id, found = tables.message(data, at, min(at + length, end), wanted)
                counts[channel_id] += 1
                if found is not None:
                    yield found
            else:
                tables.define(opcode, data[at : at + length])
            at += length

    def _check_index(self, payload: bytes, position: int) -> None:
        """An index must say what its chunk had; a chunk that was not even seen as one is found missing here."""
        channel_id, length = _INDEX.unpack_from(payload)
        if _INDEX.size + length > len(payload):
            raise struct.error("an index that is shorter than it says")
        missing = length // _INDEX_ENTRY_BYTES - self._chunk_counts.pop(channel_id, 0)
        if missing > 0 and self._bad_chunk is None:
            self._bad_chunk = self._damage(position, 0, "messages that the index behind their chunk has are not there")
        if missing > 0 and self._bad_chunk is not None:
            self._bad_chunk.messages = (self._bad_chunk.messages or 0) + missing

    def _damage(self, offset: int, length: int, what: str) -> Damage:
        damage = Damage(offset, length, what)
        self.damages.append(damage)
        return damage


def plausible(opcode: int, length: int) -> bool:
    """Whether a record may begin so."""
    return opcode in _KNOWN and length <= MAX_RECORD_BYTES and length == _FIXED.get(opcode, length)


def _stream(payload: bytes) -> ReadDataStream:
    return ReadDataStream(BytesIO(payload))
