"""What the outcomes add up to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from training.evaluate.interval import Rate, wilson


def success_rates(outcomes: Iterable[dict[str, Any]]) -> dict[str, Rate]:
    """Success by split."""
    by_split: dict[str, list[bool]] = defaultdict(list)
    for one in outcomes:
        by_split[one["split"]].append(one["success"])
    return {split: wilson(sum(part), len(part)) for split, part in sorted(by_split.items())}


def by_pair(outcomes: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Successes of trials for each pair."""
    counts: dict[str, list[bool]] = defaultdict(list)
    for one in outcomes:
        counts[f"{one['split']} {one['object']} / {one['receptacle']}"].append(one["success"])
    return {pair: f"{sum(part)}/{len(part)}" for pair, part in sorted(counts.items())}


def ratio_by_phase(outcomes: Iterable[dict[str, Any]]) -> dict[str, tuple[float, int]]:
    """Mean Temporal Ratio and number of replans for each phase."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for one in outcomes:
        for phase, ratio in zip(one["phases"], one["ratios"], strict=True):
            ratios[phase].append(ratio)
    return {phase: (float(np.mean(part)), len(part)) for phase, part in ratios.items()}


def replan_ms(outcomes: Iterable[dict[str, Any]]) -> tuple[float, float]:
    """Median and 95th percentile of the replans' time [ms]."""
    times = [value for one in outcomes for value in one["replan_ms"]]
    return float(np.percentile(times, 50)), float(np.percentile(times, 95))


def report(outcomes: list[dict[str, Any]]) -> list[str]:
    """Lines for people."""
    lines = [f"{split}: {rate}" for split, rate in success_rates(outcomes).items()]
    lines.append("pairs: " + ", ".join(f"{pair} {count}" for pair, count in by_pair(outcomes).items()))
    ratios = ratio_by_phase(outcomes)
    lines.append("TR by phase: " + ", ".join(f"{phase} {mean:.3f} ({n})" for phase, (mean, n) in ratios.items()))
    p50, p95 = replan_ms(outcomes)
    lines.append(f"replan: median {p50:.1f} ms, 95th percentile {p95:.1f} ms")
    return lines
