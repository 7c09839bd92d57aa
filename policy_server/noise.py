"""All randomness of an answer, made on the host from the observation's seed and shared by all branches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Noise:
    """Unit normal noise in a fixed order of draws: video first, then actions; further imagined chunks follow.

    Philox is counter based and gives the same numbers on every machine, so one seed is one answer.
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.Philox(seed))

    def draw(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """The next float32 values in `shape`."""
        return self._generator.standard_normal(shape, np.float32)
