"""A trial's figures for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table


def table_of(report: Mapping[str, Any]) -> Table:
    """A row a method."""
    table = Table("method", "success", "95 % (Wilson)", "seconds to success", "TR when success", "TR when failure")
    for method, figures in report["methods"].items():
        if figures["success"] is None:
            table.add_row(method, "no run", "-", "-", "-", "-")
            continue
        rate, ratios = figures["success"], figures["temporal_ratio"]
        seconds = figures["seconds_to_success_p50"]
        table.add_row(
            method,
            f"{rate['successes']}/{rate['trials']}",
            f"{rate['low']:.2f} .. {rate['high']:.2f}",
            "-" if seconds is None else f"{seconds:.1f}",
            _quartiles(ratios["success"]),
            _quartiles(ratios["failure"]),
        )
    return table


def lines_of(report: Mapping[str, Any]) -> Iterator[str]:
    """Paired differences, and what is to be known of the whole."""
    for name, pair in report["differences"].items():
        if pair is None:
            yield f"{name}: no layout with both"
            continue
        yield (
            f"{name}: {pair['difference']:+.2f} on {pair['layouts']} shared layouts "
            f"(95 %: {pair['low']:+.2f} .. {pair['high']:+.2f}), only the first succeeded on {pair['only_first']}, "
            f"only the second on {pair['only_second']}, p = {pair['p_value']:.3f}"
        )
    yield from _stops(report)
    identity, question = report["identity"], report["question"]
    yield f"policy {identity['model_id']}, engine {identity['engine_id']}; {question['rig']} rig, {question['station']}"
    yield f"{report['runs']} runs, {report['runs_missing']} missing, {report['bags_incomplete']} incomplete bags"


def _stops(report: Mapping[str, Any]) -> Iterator[str]:
    """A starved machine or a lost camera says nothing of a method; who reads a rate must see how much of it is that."""
    for method in report["methods"]:
        stopped = [run for run in report["runs_in_order"] if run["method"] == method and run["stopped"]]
        if stopped:
            reasons = "; ".join(f"run {run['run'] + 1}: {run['stopped']}" for run in stopped)
            one = len(stopped) == 1
            count, counts = (
                ("1 run was", "counts as a failure") if one else (f"{len(stopped)} runs were", "count as failures")
            )
            yield f"{method}: {count} stopped by the robot itself and {counts} ({reasons})"


def _quartiles(figures: Mapping[str, Any] | None) -> str:
    return "-" if figures is None else f"{figures['p50']:.3f} ({figures['p25']:.3f} .. {figures['p75']:.3f})"
