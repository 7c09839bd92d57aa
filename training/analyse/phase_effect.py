"""How far TR of planning phases lies from TR of contact phases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from training.analyse.outcomes import Tried
from training.analyse.resampling import Cluster, Estimate, bootstrap

PLANNING: Final = ("approach", "transport")
CONTACT: Final = ("grasp", "place")
Reading = Literal["ratios", "mask_effect", "swap_effect"]


def standardised_difference(tried: Iterable[Tried], reading: Reading = "ratios") -> Estimate | None:
    """Cohen's d, planning minus contact: difference of means over the pooled deviation of replans.

    The interval resamples whole episodes' clusters, because replans of one episode are alike. None when a side has
    fewer than two replans, or all are alike.
    """
    sums, count = _sums(tried, reading)
    totals = np.sum(list(sums.values()), axis=0) if sums else np.zeros(6)
    if min(totals[0], totals[3]) < 2:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.isfinite(cohens_d(totals))
    return bootstrap(sums, cohens_d, count) if spread else None


def mean_over(tried: Iterable[Tried], reading: Reading, phases: Sequence[str]) -> Estimate | None:
    """Mean of a reading over replans in these phases; None when there is none."""
    sums: dict[Cluster, list[float]] = defaultdict(lambda: [0.0, 0.0])
    count = 0
    for one in tried:
        for phase, value in zip(one.phases, getattr(one, reading), strict=False):
            if phase in phases:
                entry = sums[one.head_seed, one.seed]
                entry[0] += 1
                entry[1] += value
                count += 1
    return bootstrap(sums, lambda totals: totals[..., 1] / np.asarray(totals[..., 0]), count) if count else None


def cohens_d(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 6) count, sum and sum of squares of planning, then of contact -> (...)."""
    n, total, squares = totals[..., 0::3], totals[..., 1::3], totals[..., 2::3]
    means = total / n
    within = (squares - n * means**2).sum(-1) / (n.sum(-1) - 2)
    return (means[..., 0] - means[..., 1]) / np.sqrt(within)


def _sums(tried: Iterable[Tried], reading: Reading) -> tuple[dict[Cluster, list[float]], int]:
    sums: dict[Cluster, list[float]] = defaultdict(lambda: [0.0] * 6)
    count = 0
    for one in tried:
        for phase, value in zip(one.phases, getattr(one, reading), strict=False):
            if phase in (*PLANNING, *CONTACT):
                first = 0 if phase in PLANNING else 3
                entry = sums[one.head_seed, one.seed]
                for i, part in enumerate((1.0, value, value * value)):
                    entry[first + i] += part
                count += 1
    return dict(sums), count
