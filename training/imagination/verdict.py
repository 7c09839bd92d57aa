"""Which of the possible futures an imagined picture is nearest to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def nearest(imagined: NDArray[np.uint8], possible: Mapping[str, NDArray[np.uint8]]) -> str | None:
    """The name of the picture (Hc, Wc, 3) with the least mean square difference; None for fewer than two to choose."""
    if len(possible) < 2:
        return None
    return min(possible, key=lambda name: distance(imagined, possible[name]))


def distance(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> float:
    """Mean square difference of pixels in 0..1."""
    return float(np.square((a.astype(np.float64) - b) / 255.0).mean())
