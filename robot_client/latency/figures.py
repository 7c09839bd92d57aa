"""Durations to the figures that are reported of them. No mean: it would hide an outlier, or be made by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.percentile import percentile

PERCENTS: Final = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "max": 100.0}
Figures = dict[str, float]


def figures_ms(durations_ns: Sequence[int] | NDArray) -> Figures | None:
    """count, p50, p95, p99, max and jitter (mean difference of neighbours, as RFC 3550 means it) [ms]; None of none."""
    values = np.asarray(durations_ns, np.float64) / 1e6
    if not values.size:
        return None
    named = {name: round(percentile(values, percent), 4) for name, percent in PERCENTS.items()}
    jitter = float(np.abs(np.diff(values)).mean()) if values.size > 1 else 0.0
    return {"count": int(values.size), **named, "jitter": round(jitter, 4)}
