"""Results of latency benches as tables for people: one run, or two beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.table import Table

from robot_client.latency.stages import STAGES

_COLUMNS: Final = ("p50", "p95", "p99", "max", "jitter", "count")
_WHOLE: Final = ("to_command_ms", "end_to_end_ms", "chunk_age_ms", "round_trip_ms")


def table_of(result: Mapping[str, Any]) -> Table:
    """Every stage in the order of the line, then the whole."""
    table = Table("ms", *_COLUMNS)
    for stage, figures in _rows(result).items():
        if stage == _WHOLE[0]:
            table.add_section()
        table.add_row(stage, *(_cell(figures, column) for column in _COLUMNS))
    return table


def lines_of(result: Mapping[str, Any]) -> list[str]:
    """What is no distribution."""
    total, rest, counts = result["stage_sum"], result["from_rest"], result["counts"]
    rest_p50 = rest["end_to_end_ms"]["p50"] if rest["end_to_end_ms"] else None
    left = total["left_over_ms"]
    return [
        f"stage sum: {'no movement was seen' if left is None else _left_over(total)}",
        f"from rest, end to end p50: {rest_p50} ms in {_count(rest['end_to_end_ms'])} starts; measured behind told: "
        f"{result['measured_behind_told_ms']} ms",
        f"warm-up, apart: round trips {result['warm_up']['round_trip_ms']} ms",
        f"underruns {result['underruns']}, " + ", ".join(f"{name} {value}" for name, value in counts.items()),
        *(f"failed, {code}: {entry['count']}, first: {entry['first']}" for code, entry in result["failures"].items()),
        f"replans/s {result['replan_rate_hz']}",
        f"runs on: {result['runs_on'].get('device')}; {result['runs_on'].get('note') or 'GPU'}",
    ]


def compared(a: Mapping[str, Any], b: Mapping[str, Any], names: tuple[str, str]) -> Table:
    """p50 and p95 of two runs, and the second less the first."""
    table = Table("ms", *(f"{name} {column}" for column in ("p50", "p95") for name in (*names, "difference")))
    rows_a, rows_b = _rows(a), _rows(b)
    for stage in dict.fromkeys([*rows_a, *rows_b]):
        cells = [cell for column in ("p50", "p95") for cell in _pair(rows_a.get(stage), rows_b.get(stage), column)]
        table.add_row(stage, *cells)
    return table


def _rows(result: Mapping[str, Any]) -> dict[str, Mapping[str, float] | None]:
    stages = {stage: result["stages_ms"][stage] for stage in STAGES if stage in result["stages_ms"]}
    return {**stages, **{name: result.get(name) for name in _WHOLE}}


def _pair(a: Mapping[str, float] | None, b: Mapping[str, float] | None, column: str) -> list[str]:
    difference = f"{b[column] - a[column]:+.3f}" if a and b else "-"
    return [_cell(a, column), _cell(b, column), difference]


def _left_over(total: Mapping[str, Any]) -> str:
    left = total["left_over_ms"]
    return (
        f"the whole less its stages: p50 {left['p50']}, p99 {left['p99']}, max {left['max']} ms; "
        f"{total['beyond_target']} of {left['count']} beyond {total['target_ms']:g} ms; "
        f"{total['negative_stages']} negative stages"
    )


def _cell(figures: Mapping[str, float] | None, column: str) -> str:
    if figures is None:
        return "-"
    return f"{figures[column]:g}" if column == "count" else f"{figures[column]:.3f}"


def _count(figures: Mapping[str, float] | None) -> int:
    return 0 if figures is None else int(figures["count"])
