"""Samples to the three numbers that are reported of them everywhere."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

_POINTS: Final = {"p50": 50, "p95": 95, "p99": 99}


def percentiles(samples: ArrayLike) -> dict[str, float]:
    """p50, p95 and p99 of samples in their own unit, linearly interpolated."""
    values = np.percentile(np.asarray(samples, np.float64), list(_POINTS.values()))
    return {name: float(value) for name, value in zip(_POINTS, values, strict=True)}


def percentiles_ms(samples_ns: ArrayLike) -> dict[str, float]:
    """p50, p95 and p99 [ms], to a tenth of a microsecond, of samples in ns."""
    return {name: round(value / 1e6, 4) for name, value in percentiles(samples_ns).items()}
