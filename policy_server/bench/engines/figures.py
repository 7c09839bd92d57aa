"""What is said of one timed thing: percentiles, achieved arithmetic and traffic, and their shares of the peaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from policy_server.bench.engines.work import Work
from policy_server.percentiles import percentiles


def figures(spent_ms: Sequence[float], work: Work) -> dict[str, Any]:
    """Of the calls that took `spent_ms`; rates are those of the median call, traffic is what must move at least."""
    ms = percentiles(spent_ms)
    tflop_s, gb_s = work.flops / ms["p50"] / 1e9, work.least_bytes / ms["p50"] / 1e6
    return {
        "rounds": len(spent_ms),
        "ms": {**ms, "max": max(spent_ms)},
        "gflop": work.flops / 1e9,
        "tflop_s": tflop_s,
        "least_gb": work.least_bytes / 1e9,
        "gb_s": gb_s,
    }


def line(row: dict[str, Any]) -> str:
    """One row for a person."""
    what = f"{row['size']:14} {row['graph']:12} x{row['branches']} {row['engine']:22}"
    if "not_measured" in row:
        return f"{what} not measured: {row['not_measured']}"
    rates = f"{row['tflop_s']:8.3f} TFLOP/s ({row['share_of_peak_tflop_s']:.0%}), {row['gb_s']:7.1f} GB/s"
    return (
        f"{what} p50 {row['ms']['p50']:9.2f} p99 {row['ms']['p99']:9.2f} ms {rates} ({row['share_of_peak_gb_s']:.0%})"
    )
