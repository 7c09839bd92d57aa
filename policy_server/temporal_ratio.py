"""Temporal Ratio from attention masses. Pure numpy; PAPER.md, "Temporal Ratio (TR)", our definition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError
from contract.manifest import TrCalibration
from contract.types import TemporalRatio

CURRENT, FUTURE = 0, 1
"""Last axis of the masses: attention on C (tokens of latent frame 0), on F (tokens of later frames)."""


def temporal_ratio(
    masses: NDArray, prefix_length: int, current_tokens: int, future_tokens: int, calibration: TrCalibration | None
) -> TemporalRatio:
    """TR of one replan: ratio of sums over flow steps, layers, heads and free rows, of mass on F to mass on C.

    `masses` is (flow steps, layers, heads, rows, 2). The first `prefix_length` rows were given, not generated, and do
    not count, or TR would move with latency. Raises `EngineError` when no attention falls on the current frame.
    """
    totals = masses[:, :, :, prefix_length:].sum(axis=(0, 1, 2, 3), dtype=np.float64)
    current, future = float(totals[CURRENT]), float(totals[FUTURE])
    if not (current > 0.0 and future >= 0.0 and np.isfinite(future)):
        raise EngineError(
            "temporal ratio",
            expected="attention on the current frame",
            got=f"masses C {current}, F {future}",
            remedy="the action head gives no attention that could be read; export the bundle again",
        )
    value = future / current
    return TemporalRatio(value, value * current_tokens / future_tokens, rank_of(value, calibration), masses)


def rank_of(value: float, calibration: TrCalibration | None) -> float:
    """Percentile 0..1 of a TR among calibrated replans, linear between quantiles; NaN when uncalibrated."""
    if calibration is None:
        return float("nan")
    quantiles = calibration.quantiles
    return float(np.interp(value, quantiles, np.linspace(0.0, 1.0, len(quantiles))))
