"""The cluster bootstrap: training seeds are drawn anew, and within each its layouts.

All trials of one layout seed under one training seed go together (the same noise, the same training run), so what they
share does not make an interval narrower than it should be. With one training seed only layouts are drawn, and the
interval says nothing about another training run. Every statistic here is a function of sums over clusters, so a
resample is one product of a matrix of counts with those sums.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 4000
Cluster = tuple[Hashable, Hashable]
"""Training seed, layout seed."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval and how many trials (or replans, or points) it rests on."""

    value: float
    low: float
    high: float
    count: int


def bootstrap(
    sums: Mapping[Cluster, Sequence[float]],
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    count: int,
    seed: int = 0,
) -> Estimate:
    """The statistic of all sums, with the percentile interval over resampled clusters.

    `sums`: additive numbers (S,) of each cluster. `statistic`: (..., S) totals -> (...). Resamples for which it is not
    finite are left out.
    """
    clusters = sorted(sums, key=repr)
    table = np.array([sums[cluster] for cluster in clusters], float)
    weights = cluster_weights([head for head, _ in clusters], np.random.default_rng(seed))
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = statistic(weights @ table)
        value = float(statistic(table.sum(0)))
    low, high = np.quantile(drawn[np.isfinite(drawn)], (0.025, 0.975))
    return Estimate(value, float(low), float(high), count)


def cluster_weights(heads: Sequence[Hashable], rng: np.random.Generator, resamples: int = RESAMPLES) -> NDArray:
    """(R, K) how often each cluster is drawn, for the training seed of each cluster."""
    names = list(dict.fromkeys(heads))
    members = [np.array([i for i, head in enumerate(heads) if head == name]) for name in names]
    times = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=resamples)
    weights = np.zeros((resamples, len(heads)))
    for drawn, mine in zip(times.T, members, strict=True):
        # A training seed drawn n times draws its layouts n times over.
        weights[:, mine] = rng.multinomial(drawn * len(mine), np.full(len(mine), 1 / len(mine)))
    return weights
