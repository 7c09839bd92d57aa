"""Coverage: which parts of the picture a board has been in, and how far it was tilted, while views are collected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.detection import Sighting

CELLS: Final = (4, 5)
"""Rows and columns of the map."""
_SHADES: Final = " .:*#"


def coverage(sightings: Sequence[Sighting], width: int, height: int) -> NDArray[np.int64]:
    """(4, 5) corners seen in each part of the picture."""
    counts = np.zeros(CELLS, np.int64)
    for sighting in sightings:
        rows = np.clip((sighting.pixels[:, 1] * CELLS[0] / height).astype(int), 0, CELLS[0] - 1)
        columns = np.clip((sighting.pixels[:, 0] * CELLS[1] / width).astype(int), 0, CELLS[1] - 1)
        np.add.at(counts, (rows, columns), 1)
    return counts


def covered(counts: NDArray[np.int64]) -> float:
    """Share of the parts that hold ten corners or more."""
    return float(np.mean(counts >= 10))


def drawn(counts: NDArray[np.int64]) -> list[str]:
    """The map as text, for the terminal: blank where the board has never been."""
    most = max(10, int(counts.max()))
    levels = np.ceil(counts / most * (len(_SHADES) - 1)).astype(int)
    return ["|" + "".join(_SHADES[level] * 3 for level in row) + "|" for row in levels]
