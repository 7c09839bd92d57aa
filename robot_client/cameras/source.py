"""What a camera is to its process, and which file knows which kind of device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError
from robot_client.cameras.config import CameraConfig

DeviceClock = Literal["host", "own"]
"""Stamps of a device are on this host's monotonic clock, or on a clock of its own that has to be mapped."""


@dataclass(frozen=True, slots=True, eq=False)
class Captured:
    """One image (height, width, 3) uint8 RGB, when it arrived, and what its device says of when it was taken."""

    image: NDArray[np.uint8]
    arrival_ns: int
    device_ns: int | None = None
    clock: DeviceClock = "own"


class CameraSource(Protocol):
    """One device. Calls wait about a second at most; trouble is a `RigError`, after which it is opened anew."""

    serial: str
    """What the device says of itself, once open; empty when it says nothing."""

    def open(self) -> None:
        """Begin to deliver."""

    def read(self) -> Captured:
        """The next image."""

    def close(self) -> None:
        """Give the device back; also after a failed `open`."""


def make_source(config: CameraConfig) -> CameraSource:
    """An unopened source. Its library is imported only when it is wanted."""
    kind, _, name = config.device.partition(":")
    maker = KINDS.get(kind)
    if maker is None or not name:
        raise ConfigurationError(
            f"camera {config.role}",
            expected=f"KIND:NAME with KIND one of {', '.join(KINDS)}",
            got=config.device,
            remedy="correct the device in the station file, or give --cameras ROLE=KIND:NAME",
        )
    return maker(config, name)


def _pattern(config: CameraConfig, name: str) -> CameraSource:
    from robot_client.cameras.pattern import PatternSource

    return PatternSource(config, name)


def _file(config: CameraConfig, name: str) -> CameraSource:
    from robot_client.cameras.video_file import FileSource

    return FileSource(config, name)


def _v4l2(config: CameraConfig, name: str) -> CameraSource:
    from robot_client.cameras.v4l2 import V4l2Source

    return V4l2Source(config, name)


def _realsense(config: CameraConfig, name: str) -> CameraSource:
    from robot_client.cameras.realsense import RealsenseSource

    return RealsenseSource(config, name)


KINDS: Final[Mapping[str, Callable[[CameraConfig, str], CameraSource]]] = {
    "v4l2": _v4l2,
    "realsense": _realsense,
    "file": _file,
    "pattern": _pattern,
}
"""Kind of device -> its source. "pattern" and "file" are made up; "twin" and "topic" belong to other rigs."""
MADE_UP: Final = frozenset({"pattern", "file"})
