"""Percentiles of figures for people: of none there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def percentile(values: Sequence[float] | NDArray, percent: float) -> float:
    """Between neighbours by a straight line, as numpy does; NaN of no values."""
    return float(np.percentile(values, percent)) if len(values) else math.nan


def rounded(values: Sequence[float] | NDArray, percent: float, digits: int) -> float | None:
    """For JSON, which has no NaN: None of no values."""
    return round(percentile(values, percent), digits) if len(values) else None
