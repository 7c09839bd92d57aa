"""Differences of success between two methods tried on the same layouts with the same noise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from training.analyse.outcomes import Tried
from training.analyse.resampling import Cluster, Estimate, bootstrap


def success_difference(method: Iterable[Tried], reference: Iterable[Tried]) -> Estimate | None:
    """Success of `method` minus that of `reference` over what both tried; None when they share nothing."""
    theirs = {one.key: one.success for one in reference}
    sums: dict[Cluster, list[float]] = defaultdict(lambda: [0.0, 0.0])
    count = 0
    for one in method:
        if one.key in theirs:
            entry = sums[one.head_seed, one.seed]
            entry[0] += float(one.success) - float(theirs[one.key])
            entry[1] += 1
            count += 1
    if not count:
        return None
    return bootstrap(sums, lambda totals: totals[..., 0] / np.asarray(totals[..., 1]), count)
