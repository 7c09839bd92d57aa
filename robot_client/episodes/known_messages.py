"""The messages that an episode has hundreds of a second, from CDR bytes without a generic decoder.

Only for bytes whose definition is the one in `definitions`, comments aside. Fields have their names in ROS; sequences
of numbers are read-only arrays, uint8[] is bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robot_client.episodes.cdr_read import STAMP, START, bytes_at, numbers_at, text_at, u32_at
from robot_client.episodes.definitions import definition_of

_FLOAT64: Final = np.dtype("<f8")
_NUMBERS: Final = {"Float64": "<f8", "Float32": "<f4", "Int64": "<i8", "UInt16": "<u2"}


@dataclass(slots=True)
class Time:
    """builtin_interfaces/Time."""

    sec: int
    nanosec: int


@dataclass(slots=True)
class Header:
    """std_msgs/Header."""

    stamp: Time
    frame_id: str


@dataclass(slots=True)
class String:
    """std_msgs/String."""

    data: str


@dataclass(slots=True, eq=False)
class JointState:
    """sensor_msgs/JointState."""

    header: Header
    name: tuple[str, ...]
    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    effort: NDArray[np.float64]


@dataclass(slots=True, eq=False)
class CompressedImage:
    """sensor_msgs/CompressedImage."""

    header: Header
    format: str
    data: bytes


@dataclass(slots=True, eq=False)
class CompressedVideo:
    """foxglove_msgs/CompressedVideo."""

    timestamp: Time
    frame_id: str
    data: bytes
    format: str


@dataclass(slots=True)
class Dimension:
    """std_msgs/MultiArrayDimension."""

    label: str
    size: int
    stride: int


@dataclass(slots=True)
class Layout:
    """std_msgs/MultiArrayLayout."""

    dim: list[Dimension]
    data_offset: int


@dataclass(slots=True, eq=False)
class MultiArray:
    """std_msgs/*MultiArray."""

    layout: Layout
    data: NDArray


class JointStates:
    """Decodes JointState; keeps the newest block of names, which is the same in nearly every message."""

    def __init__(self) -> None:
        self._block, self._names = b"", tuple[str, ...]()

    def __call__(self, data: bytes) -> JointState:
        """Raises `ValueError` or `struct.error` on bytes that are no JointState."""
        header, at = _header(data)
        names, at = self._names_at(data, at + -at % 4)
        position, at = numbers_at(data, at, _FLOAT64)
        velocity, at = numbers_at(data, at, _FLOAT64)
        effort, at = numbers_at(data, at, _FLOAT64)
        return JointState(header, names, position, velocity, effort)

    def _names_at(self, data: bytes, start: int) -> tuple[tuple[str, ...], int]:
        """`start` is a multiple of 4, so that equal names are equal bytes."""
        end = start + len(self._block)
        if self._block and data[start:end] == self._block:
            return self._names, end
        names, at = [], start
        count, at = u32_at(data, at)
        for _ in range(count):
            name, at = text_at(data, at)
            names.append(name)
        self._block, self._names = data[start:at], tuple(names)
        return self._names, at


def known_decoder(ros_type: str, definition: bytes) -> Callable[[bytes], Any] | None:
    """The decoder of a type by its `ros2msg` text; None for other types, and for others of the same name."""
    make = _DECODERS.get(ros_type)
    if make is None or _bare(definition.decode("utf-8", "replace")) != _bare(definition_of(ros_type)):
        return None
    return make()


def _bare(text: str) -> list[str]:
    """Lines without comments, and with one space between words."""
    lines = (" ".join(line.partition("#")[0].split()) for line in text.splitlines())
    return [line for line in lines if line]


def _header(data: bytes) -> tuple[Header, int]:
    frame_id, at = text_at(data, START + STAMP.size)
    return Header(Time(*STAMP.unpack_from(data, START)), frame_id), at


def _string(data: bytes) -> String:
    return String(text_at(data, START)[0])


def _compressed_image(data: bytes) -> CompressedImage:
    header, at = _header(data)
    form, at = text_at(data, at)
    return CompressedImage(header, form, bytes_at(data, at)[0])


def _compressed_video(data: bytes) -> CompressedVideo:
    stamp = Time(*STAMP.unpack_from(data, START))
    frame_id, at = text_at(data, START + STAMP.size)
    content, at = bytes_at(data, at)
    return CompressedVideo(stamp, frame_id, content, text_at(data, at)[0])


def _multi_array(data: bytes, dtype: np.dtype) -> MultiArray:
    count, at = u32_at(data, START)
    dimensions = []
    for _ in range(count):
        label, at = text_at(data, at)
        size, at = u32_at(data, at)
        stride, at = u32_at(data, at)
        dimensions.append(Dimension(label, size, stride))
    offset, at = u32_at(data, at)
    return MultiArray(Layout(dimensions, offset), numbers_at(data, at, dtype)[0])


_DECODERS: Final[dict[str, Callable[[], Callable[[bytes], Any]]]] = {
    "std_msgs/msg/String": lambda: _string,
    "sensor_msgs/msg/JointState": JointStates,
    "sensor_msgs/msg/CompressedImage": lambda: _compressed_image,
    "foxglove_msgs/msg/CompressedVideo": lambda: _compressed_video,
    **{
        f"std_msgs/msg/{name}MultiArray": partial(partial, _multi_array, dtype=np.dtype(dtype))
        for name, dtype in _NUMBERS.items()
    },
}
