"""Which of the possible futures an imagined picture goes towards."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Pictures = tuple[NDArray[np.uint8], NDArray[np.uint8]]
"""Before and after, (Hc, Wc, 3) each."""


def nearest(imagined: Pictures, before: NDArray[np.uint8], possible: Mapping[str, NDArray[np.uint8]]) -> str | None:
    """The name of the picture whose change since `before` has most in common with the imagined change.

    The first of `imagined` is the present as the model draws it, so that what its decoder loses is in neither change.
    None for fewer than two to choose from.
    """
    if len(possible) < 2:
        return None
    return max(possible, key=lambda name: likeness(imagined, (before, possible[name])))


def likeness(a: Pictures, b: Pictures) -> float:
    """Cosine between two changes, all pixels as one vector.

    Not their distance: what is expected on average is pale, and a pale picture is nearest to that in which least moves.
    """
    one, other = (after.astype(np.float64).ravel() - before.ravel() for before, after in (a, b))
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length else 0.0
