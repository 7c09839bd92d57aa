"""A made-up picture that changes with every frame and carries its number: stands for a camera where there is none."""

from __future__ import annotations

import time
import zlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.cameras.config import CameraConfig
from robot_client.cameras.source import Captured
from robot_client.clock import NS_PER_S

_BAR: Final = 8
"""Width of the moving bar [pixels]."""


class PatternSource:
    """`pattern:NAME`: a grey ramp in a colour of the name's own, with a bar that wanders to the right."""

    def __init__(self, config: CameraConfig, name: str) -> None:
        self._config, self._name = config, name
        self._next_ns = 0
        self._number = 0
        self.serial = f"pattern-{name}"

    def open(self) -> None:
        self._next_ns = time.monotonic_ns()

    def read(self) -> Captured:
        """At the camera's rate; stamped by this host's clock."""
        time.sleep(max(0.0, (self._next_ns - time.monotonic_ns()) / NS_PER_S))
        now_ns = time.monotonic_ns()
        self._next_ns = max(self._next_ns + int(NS_PER_S / self._config.rate_hz), now_ns)
        image = picture(self._name, self._config.height, self._config.width, self._number)
        self._number += 1
        return Captured(image, time.monotonic_ns(), now_ns, "host")

    def close(self) -> None:
        """Nothing is held."""


def picture(name: str, height: int, width: int, number: int) -> NDArray[np.uint8]:
    """(height, width, 3) uint8 RGB. The first four pixels of the first row hold the number, see `number_in`."""
    colour = np.frombuffer(zlib.crc32(name.encode()).to_bytes(4, "little"), np.uint8)[:3] // 2 + 64
    ramp = np.linspace(0.3, 1.0, width)[np.newaxis, :, np.newaxis]
    image = np.broadcast_to(ramp * colour, (height, width, 3)).astype(np.uint8)
    at = number * 2 % width
    image[:, at : at + _BAR] = 255
    for place, byte in enumerate((number % 2**32).to_bytes(4, "little")[:width]):
        image[0, place] = byte
    return image


def number_in(image: NDArray[np.uint8]) -> int:
    """The number of a picture that was not scaled."""
    return int.from_bytes(bytes(int(image[0, place, 0]) for place in range(4)), "little")
