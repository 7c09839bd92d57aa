"""CDR as ROS 2 writes it (XCDR1, little endian): the few primitives that our topics need.

Source of the rules: OMG DDS-RTPS 2.3, 10.2 (encapsulation), and CORBA CDR alignment, counted from after the 4-byte
encapsulation header.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

HEADER: Final = b"\x00\x01\x00\x00"
"""Plain CDR, little endian."""
_U32: Final = struct.Struct("<I")
_STAMP: Final = struct.Struct("<iI")
_NS_PER_S: Final = 1_000_000_000


class CdrWriter:
    """Appends values in the order of a message's fields."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = bytearray(HEADER)

    def finish(self) -> bytes:
        """The whole message."""
        return bytes(self._data)

    def align(self, size: int) -> None:
        """Pad so that a value of `size` bytes may follow."""
        self._data.extend(b"\0" * (-(len(self._data) - len(HEADER)) % size))

    def raw(self, data: bytes) -> None:
        """Bytes as they are, without alignment."""
        self._data += data

    def u8(self, value: int) -> None:
        """uint8 or byte."""
        self._data.append(value)

    def u32(self, value: int) -> None:
        """uint32, also the length of a sequence."""
        self.align(4)
        self._data += _U32.pack(value)

    def text(self, value: str) -> None:
        """A string: length with the closing zero, bytes, zero."""
        data = value.encode("utf-8", "replace")
        self.u32(len(data) + 1)
        self._data += data
        self._data.append(0)

    def stamp(self, ros_ns: int) -> None:
        """builtin_interfaces/Time, or a Duration that is not negative."""
        self.align(4)
        self._data += _STAMP.pack(*divmod(ros_ns, _NS_PER_S))

    def numbers(self, values: NDArray) -> None:
        """An unbounded sequence of any numpy number type."""
        self.u32(values.size)
        if values.size:
            self.align(values.dtype.itemsize)
            self._data += np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()

    def blob(self, data: bytes) -> None:
        """uint8[]."""
        self.u32(len(data))
        self._data += data
