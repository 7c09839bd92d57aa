"""Messages one after the other in a byte stream, such as a pipe between two processes: number of frames, then each
frame behind its length, all little-endian 32 bit."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from contract.errors import CodecError
from contract.wire import MAX_ARRAY_BYTES, MAX_ARRAYS, Buffer

_NUMBER: Final = struct.Struct("<I")


def write_message(stream: BinaryIO, frames: Sequence[Buffer]) -> None:
    """Append the frames of one message (`contract.codec.encode`)."""
    stream.write(_NUMBER.pack(len(frames)))
    for frame in frames:
        data = memoryview(frame).cast("B")
        stream.write(_NUMBER.pack(len(data)))
        stream.write(data)


def read_messages(stream: BinaryIO) -> Iterator[list[Buffer]]:
    """Frames of each message until the stream ends. Raises `CodecError` where it ends within one, or is none."""
    while head := stream.read(_NUMBER.size):
        count = _bounded(head, MAX_ARRAYS + 1, "frames of a message")
        yield [_frame(stream) for _ in range(count)]


def _frame(stream: BinaryIO) -> bytes:
    size = _bounded(stream.read(_NUMBER.size), MAX_ARRAY_BYTES, "bytes of a frame")
    data = stream.read(size)
    if len(data) != size:
        raise CodecError("stream of messages", expected=f"{size} bytes", got=f"{len(data)}, then its end")
    return data


def _bounded(data: bytes, most: int, what: str) -> int:
    number = _NUMBER.unpack(data)[0] if len(data) == _NUMBER.size else -1
    if not 0 <= number <= most:
        raise CodecError(what, expected=f"0 to {most}", got="the end of the stream" if number < 0 else number)
    return int(number)
