"""A camera that delivers one and the same picture under new stamps: a sensor or a driver that has stopped.

The noise of a real sensor makes every picture another one, also of a scene that stands still, so pictures that are
equal to the last byte for a second come from no live sensor (or from one that sees only black or white, which is no
better to act on). Made-up pictures may well stand still.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.cameras.source import Captured
from robot_client.clock import NS_PER_S

LONGEST_NS: Final = NS_PER_S
_EVERY: Final = 16
"""Rows and columns that are looked at first: live pictures nearly always differ there already."""


class Frozen:
    """Of one camera. `look` keeps the newest picture, which nobody may write to any more."""

    def __init__(self) -> None:
        self._image: NDArray[np.uint8] | None = None
        self._since_ns = 0

    def look(self, captured: Captured) -> bool:
        """Whether this picture has been the same for `LONGEST_NS`, counted by arrivals."""
        if self._image is None or not _equal(self._image, captured.image):
            self._since_ns = captured.arrival_ns
        self._image = captured.image
        return captured.arrival_ns - self._since_ns >= LONGEST_NS


def _equal(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    return np.array_equal(one[::_EVERY, ::_EVERY], other[::_EVERY, ::_EVERY]) and np.array_equal(one, other)
