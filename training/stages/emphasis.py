"""Which moments are drawn more often: those before far moves, where the instruction decides where to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from training.data.library import Library, Moments
from training.stages.base import Chance

_EVEN = 0.3
"""Share of the draws that stay even, so that fine motion is not forgotten."""


class Emphasis:
    """Draws moments in proportion to the mean square of how far the arms go within the chunk, mixed with even draws."""

    def __init__(self, library: Library, moments: Moments, horizon: int, scale: NDArray[np.float64]) -> None:
        far = np.zeros(len(moments))
        for number in np.unique(moments.demonstration):
            mine = moments.demonstration == number
            far[mine] = _motion(library, int(number), horizon, scale)[moments.moment[mine]]
        weights = _EVEN / len(far) + (1 - _EVEN) * far / far.sum()
        self._upto = np.cumsum(weights / weights.sum())

    def draw(self, count: int, chance: Chance) -> NDArray[np.intp]:
        """Positions of `count` moments."""
        return np.minimum(np.searchsorted(self._upto, chance.numpy.random(count)), len(self._upto) - 1)


def _motion(library: Library, number: int, horizon: int, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """(working,) mean square over the chunk of target - state, in units of `scale`."""
    one = library.demonstrations[number]
    start, working = one.entry.start, one.entry.working
    state = np.asarray(one.shard.joints[start : start + working], np.float64)
    targets = np.asarray(one.shard.targets[start : start + working], np.float64)
    at = np.minimum(np.arange(working)[:, None] + np.arange(horizon), working - 1)
    return (((targets[at] - state[:, None]) / scale) ** 2).mean((1, 2))
