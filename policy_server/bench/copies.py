"""`python -m policy_server.bench.copies`: one np.copyto of three 640x480 images, in a process that does nothing else.

Each sample is [ns into new arrays, ns into arrays that are kept].
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from policy_server.bench.lines import answer_lines

SCENES: Final = 12
"""Different sets of images that take turns, so that sources are no warmer in the cache than a camera's."""
SHAPE: Final = (480, 640, 3)
IMAGES: Final = 3


class Copies:
    """Times copies of image sets that take turns."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self._scenes = [[rng.integers(0, 256, SHAPE, np.uint8) for _ in range(IMAGES)] for _ in range(SCENES)]
        self._kept = [np.zeros(SHAPE, np.uint8) for _ in range(IMAGES)]
        self._number = 0

    def sample(self) -> list[int]:
        """[into new arrays, into kept arrays], ns."""
        self._number += 2
        scene, other = self._scenes[self._number % SCENES], self._scenes[(self._number + 1) % SCENES]
        begin_ns = time.perf_counter_ns()
        _copy([np.empty_like(image) for image in scene], scene)
        between_ns = time.perf_counter_ns()
        _copy(self._kept, other)
        return [between_ns - begin_ns, time.perf_counter_ns() - between_ns]


def _copy(targets: Sequence[NDArray], images: Sequence[NDArray]) -> None:
    for target, image in zip(targets, images, strict=True):
        np.copyto(target, image)


if __name__ == "__main__":
    answer_lines(Copies().sample)
