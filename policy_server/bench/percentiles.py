"""Samples to the three numbers that are reported of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def percentiles_ms(samples_ns: ArrayLike) -> dict[str, float]:
    """p50, p95 and p99 [ms] of samples in ns."""
    values = np.percentile(np.asarray(samples_ns) / 1e6, [50, 95, 99])
    return {name: round(float(value), 4) for name, value in zip(("p50", "p95", "p99"), values, strict=True)}
