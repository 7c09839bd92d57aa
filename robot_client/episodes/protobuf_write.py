"""The little of protobuf's wire format that writing ABC-130k's messages needs, and their schemas as descriptors.

Source: https://protobuf.dev/programming-guides/encoding/ and google/protobuf/descriptor.proto. MCAP wants a
FileDescriptorSet with all that a message type depends on.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_NS_PER_S: Final = 1_000_000_000
_KINDS: Final = {"double": 1, "int64": 3, "int32": 5, "string": 9, "message": 11, "bytes": 12}
"""FieldDescriptorProto.Type"""
_OPTIONAL: Final = 1
_REPEATED: Final = 3

FieldSpec = tuple[str, int, str, bool]
"""Name, number, kind (or the full name of a message type, with a dot in front), repeated."""


def varint(value: int) -> bytes:
    """A number of at most 64 bits, not negative."""
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def field(number: int, value: bytes | int | str) -> bytes:
    """One field: a number, a text, bytes or a message's bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def doubles(number: int, values: NDArray) -> bytes:
    """A packed `repeated double`."""
    return field(number, struct.pack(f"<{len(values)}d", *np.asarray(values, float)))


def stamp(number: int, ns: int) -> bytes:
    """A google.protobuf.Timestamp."""
    return field(number, field(1, ns // _NS_PER_S) + field(2, ns % _NS_PER_S))


def descriptor_set(files: Sequence[tuple[str, str, Mapping[str, Sequence[FieldSpec]], Sequence[str]]]) -> bytes:
    """FileDescriptorSet of (file name, package, message name -> fields, files it imports), proto3."""
    return b"".join(field(1, _file(*one)) for one in files)


def _file(name: str, package: str, messages: Mapping[str, Sequence[FieldSpec]], imports: Sequence[str]) -> bytes:
    parts = [field(1, name), *([field(2, package)] if package else []), *(field(3, other) for other in imports)]
    parts += [field(4, _message(title, fields)) for title, fields in messages.items()]
    return b"".join([*parts, field(12, "proto3")])


def _message(name: str, fields: Sequence[FieldSpec]) -> bytes:
    return field(1, name) + b"".join(field(2, _field(*one)) for one in fields)


def _field(name: str, number: int, kind: str, repeated: bool) -> bytes:
    typed = kind.startswith(".")
    data = field(1, name) + field(3, number) + field(4, _REPEATED if repeated else _OPTIONAL)
    data += field(5, _KINDS["message" if typed else kind])
    return data + field(6, kind) if typed else data
