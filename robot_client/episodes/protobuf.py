"""The little of protobuf's wire format that ABC-130k's messages need: varints, doubles, texts, messages in messages.

Source: https://protobuf.dev/programming-guides/encoding/. Fields that are not asked for are passed over.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError

_FIXED: Final = {1: 8, 5: 4}
_LENGTH: Final = 2
_NS_PER_S: Final = 1_000_000_000


class Fields:
    """Fields of one message by number; of a repeated one all, in order. Raises `EpisodeError` on nonsense."""

    def __init__(self, data: bytes) -> None:
        self._values: dict[int, list[bytes | int]] = {}
        at = 0
        try:
            while at < len(data):
                key, at = _varint(data, at)
                value, at = _value(data, at, key & 7)
                self._values.setdefault(key >> 3, []).append(value)
        except IndexError as error:
            raise _nonsense("it ends inside a field") from error

    def blob(self, number: int) -> bytes:
        """Bytes, a text's bytes, or a message's; empty when it is not there."""
        value = self._values.get(number, [b""])[-1]
        if isinstance(value, int):
            raise _nonsense(f"field {number} is a number")
        return value

    def text(self, number: int) -> str:
        """A string."""
        return self.blob(number).decode("utf-8", "replace")

    def integer(self, number: int) -> int:
        """int32 or int64; 0 when it is not there."""
        value = self._values.get(number, [0])[-1]
        if not isinstance(value, int):
            raise _nonsense(f"field {number} is no number")
        return value - 2**64 if value >= 2**63 else value

    def doubles(self, number: int) -> NDArray[np.float64]:
        """repeated double, packed or not."""
        data = b"".join(value for value in self._values.get(number, []) if isinstance(value, bytes))
        if len(data) % 8:
            raise _nonsense(f"field {number} is no list of doubles")
        return np.frombuffer(data, "<f8")

    def stamp_ns(self, number: int) -> int:
        """google.protobuf.Timestamp."""
        inner = Fields(self.blob(number))
        return inner.integer(1) * _NS_PER_S + inner.integer(2)


def _value(data: bytes, at: int, kind: int) -> tuple[bytes | int, int]:
    if kind == 0:
        return _varint(data, at)
    if kind == _LENGTH:
        size, at = _varint(data, at)
    elif kind in _FIXED:
        size = _FIXED[kind]
    else:
        raise _nonsense(f"wire type {kind}")
    if at + size > len(data):
        raise _nonsense("it ends inside a field")
    return data[at : at + size], at + size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at
        if shift >= struct.calcsize("q") * 8 + 7:
            raise _nonsense("a number of more than 64 bits")


def _nonsense(got: str) -> EpisodeError:
    return EpisodeError("protobuf message", expected="fields as its schema says", got=got)
