"""Spearman's rank correlation with an interval that is honest for few points."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from training.analyse.resampling import Estimate

_Z = 1.959964
LEAST_POINTS = 4


def spearman(x: Sequence[float], y: Sequence[float]) -> Estimate | None:
    """Rank correlation with the 95 % interval of Bonett and Wright (2000).

    That is tanh(atanh r +- z sqrt((1 + r^2 / 2) / (n - 3))).

    A perfect order is treated as one exchange of neighbours away from it, because the formula would claim certainty.
    None for fewer than four points, or when one side is all equal.
    """
    count = len(x)
    if count < LEAST_POINTS or len(set(x)) < 2 or len(set(y)) < 2:
        return None
    value = float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])
    most = 1 - 12 / (count * (count * count - 1))
    used = min(max(value, -most), most)
    half = _Z * math.sqrt((1 + used * used / 2) / (count - 3))
    return Estimate(value, math.tanh(math.atanh(used) - half), math.tanh(math.atanh(used) + half), count)
