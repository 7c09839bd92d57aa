"""Reading little-endian CDR without going through a description of the message: the counterpart of `cdr.CdrWriter`.

Alignment counts from after the 4-byte encapsulation header. Each function takes the bytes and a position and returns
the value and the position behind it; all raise `ValueError` or `struct.error` when the bytes end too early.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

U32: Final = struct.Struct("<I")
STAMP: Final = struct.Struct("<iI")
START: Final = 4
"""Length of the encapsulation header."""
_NOTHING: Final[dict[np.dtype, NDArray]] = {}


def is_little_endian(data: bytes) -> bool:
    """Plain CDR in the byte order of every machine that ROS 2 runs on."""
    return data[:2] == b"\x00\x01"


def u32_at(data: bytes, at: int) -> tuple[int, int]:
    """uint32, also the length of a sequence."""
    at += -at % 4
    return U32.unpack_from(data, at)[0], at + 4


def text_at(data: bytes, at: int) -> tuple[str, int]:
    """A string, without its closing zero."""
    length, at = u32_at(data, at)
    end = at + length
    if end > len(data):
        raise ValueError(f"a text of {length} bytes, {len(data) - at} there")
    return str(data[at : end - 1], "utf-8") if length > 1 else "", end


def bytes_at(data: bytes, at: int) -> tuple[bytes, int]:
    """uint8[]."""
    length, at = u32_at(data, at)
    end = at + length
    if end > len(data):
        raise ValueError(f"{length} bytes, {len(data) - at} there")
    return data[at:end], end


def numbers_at(data: bytes, at: int, dtype: np.dtype) -> tuple[NDArray, int]:
    """A sequence of numbers as a read-only view of `data`; an empty one is not aligned."""
    count, at = u32_at(data, at)
    if not count:
        return _nothing(dtype), at
    at += -(at - START) % dtype.itemsize
    return np.frombuffer(data, dtype, count, at), at + count * dtype.itemsize


def _nothing(dtype: np.dtype) -> NDArray:
    found = _NOTHING.get(dtype)
    if found is None:
        found = _NOTHING[dtype] = np.zeros(0, dtype)
        found.flags.writeable = False
    return found
