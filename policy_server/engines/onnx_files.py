"""Names of the files beside an ONNX file that hold its weights, read without the onnx package.

Walks the protobuf wire format down to every `TensorProto.external_data` entry (field numbers of onnx.proto3).
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contract.errors import BundleError

_CHILDREN: Final[dict[str, dict[int, str]]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
"""Message -> field number -> message inside it, on the ways to external data."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def external_locations(path: Path) -> set[str]:
    """Locations that the tensors of an ONNX file name. Raises `BundleError` for a file that is no ONNX."""
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return set(_locations(data, 0, len(data), "model"))
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise BundleError(f"{path}", expected="an ONNX file", got=str(error), remedy="export it again") from error


def _locations(data: mmap.mmap, start: int, end: int, message: str) -> Iterator[str]:
    if message == "entry":
        entry = {number: data[a:b].decode() for number, a, b in _fields(data, start, end)}
        if entry.get(1) == "location":
            yield entry.get(2, "")
        return
    children = _CHILDREN[message]
    for number, a, b in _fields(data, start, end):
        if number in children:
            yield from _locations(data, a, b, children[number])


def _fields(data: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(field number, start, end) of every length-delimited field in data[start:end]."""
    at = start
    while at < end:
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _BYTES:
            length, at = _varint(data, at)
            if at + length > end:
                raise ValueError(f"a field at byte {at} is cut off")
            yield key >> 3, at, at + length
            at += length
        elif kind == _VARINT:
            _, at = _varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            at += 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"no protobuf at byte {at}")


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError(f"no protobuf at byte {at}")
