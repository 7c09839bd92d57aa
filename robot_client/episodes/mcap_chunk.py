"""One MCAP chunk being read: its head, its content, and the search for the next one in a damaged file."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import BinaryIO, Final

import lz4.frame
import zstandard

MAX_CHUNK_BYTES: Final = 128 * 1024 * 1024
"""Uncompressed; rosbag2 writes 768 KB by default."""
_TIMES: Final = struct.Struct("<QQQI")
_U32: Final = struct.Struct("<I")
_U64: Final = struct.Struct("<Q")
_BEFORE_NAME: Final = 9 + _TIMES.size
_MARKS: Final = tuple(_U32.pack(len(name)) + name for name in (b"zstd", b"lz4"))
_WINDOW: Final = 1024 * 1024
_CHUNK_OPCODE: Final = 6


class BadChunkError(Exception):
    """This chunk cannot be read; the message says why."""


@dataclass(frozen=True, slots=True, eq=False)
class ChunkHead:
    """Fields of a chunk record; `packed` is the compressed content."""

    start_ns: int
    end_ns: int
    size: int
    crc: int
    compression: str
    packed: bytes

    @staticmethod
    def of(payload: bytes) -> ChunkHead:
        """Raises `BadChunkError` when the fields do not fit the record."""
        try:
            start_ns, end_ns, size, crc = _TIMES.unpack_from(payload)
            name_length = _U32.unpack_from(payload, _TIMES.size)[0]
            at = _TIMES.size + _U32.size
            name = payload[at : at + name_length].decode()
            length = _U64.unpack_from(payload, at + name_length)[0]
        except (struct.error, UnicodeDecodeError) as error:
            raise BadChunkError("its head is no chunk's head") from error
        packed = payload[at + name_length + _U64.size :]
        if len(packed) != length:
            raise BadChunkError(f"{length} bytes claimed, {len(packed)} there")
        return ChunkHead(start_ns, end_ns, size, crc, name, packed)


def unpacked(head: ChunkHead) -> bytes:
    """The records of a chunk. Raises `BadChunkError`; never allocates more than `MAX_CHUNK_BYTES`."""
    if head.size > MAX_CHUNK_BYTES:
        raise BadChunkError(f"it claims {head.size} bytes, more than {MAX_CHUNK_BYTES}")
    data = _decompressed(head)
    if len(data) != head.size:
        raise BadChunkError(f"{head.size} bytes claimed, {len(data)} found")
    if head.crc and zlib.crc32(data) != head.crc:
        raise BadChunkError("its checksum is wrong")
    return data


def find_chunk(file: BinaryIO, start: int, size: int) -> int | None:
    """Where the next compressed chunk begins at or after `start`, read window by window."""
    overlap = _BEFORE_NAME + max(len(mark) for mark in _MARKS)
    position = start
    while position < size:
        file.seek(position)
        window = file.read(_WINDOW + overlap)
        for at in sorted(_hits(window)):
            if window[at] == _CHUNK_OPCODE and position + at + 9 + _U64.unpack_from(window, at + 1)[0] <= size:
                return position + at
        position += _WINDOW
    return None


def _hits(window: bytes) -> set[int]:
    """Possible beginnings of chunk records in the window."""
    found = set()
    for mark in _MARKS:
        at = window.find(mark)
        while at >= 0:
            if at >= _BEFORE_NAME:
                found.add(at - _BEFORE_NAME)
            at = window.find(mark, at + 1)
    return found


def _decompressed(head: ChunkHead) -> bytes:
    try:
        if head.compression == "zstd":
            claimed = zstandard.frame_content_size(head.packed)
            if claimed not in (-1, head.size):
                raise BadChunkError(f"{head.size} bytes claimed, the frame says {claimed}")
            return zstandard.ZstdDecompressor().decompress(head.packed, max_output_size=max(head.size, 1))
        if head.compression == "lz4":
            return lz4.frame.LZ4FrameDecompressor().decompress(head.packed, max_length=head.size + 1)
    except (zstandard.ZstdError, RuntimeError) as error:
        raise BadChunkError(str(error)[:100]) from error
    if head.compression:
        raise BadChunkError(f"compression {head.compression[:20]!r}, known are zstd and lz4")
    return head.packed
