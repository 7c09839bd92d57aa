"""What a replay through the policy found, as one HTML page."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Final

import numpy as np

from robot_client.demo.drawing import Drawing
from robot_client.demo.page import notice, page, table, tiled
from robot_client.episodes.policy_replay import Compared
from robot_client.episodes.policy_report import PolicyReport

_TEMPLATE: Final = Path(__file__).with_name("policy.html")
_HEADS: Final = ("epoch/seq", "row", "rows off", "TR then", "TR now", "scales off", "branches then", "branches now", "")


def write_policy_page(path: Path, report: PolicyReport, name: str) -> None:
    """Raises `OSError` when it cannot be written."""
    parts = {
        "title": html.escape(f"Replay through the policy: {name}"),
        "was": html.escape(report.was),
        "now": html.escape(report.now),
        "notice": notice("" if report.passed else _why(report)),
        "tiles": tiled(_tiles(report)),
        "chart": _chart(report),
        "table": table(_HEADS, [_cells(one, report) for one in report.compared]),
    }
    path.write_text(page(_TEMPLATE, parts), encoding="utf-8")


def _why(report: PolicyReport) -> str:
    if not report.compared:
        return "NOTHING WAS COMPARED: no recorded question had an answer"
    tolerance = report.tolerance
    return (
        f"{len(report.outside)} of {len(report.compared)} replans are outside the tolerance "
        f"({tolerance.rows:g} rad, TR {tolerance.tr:g})"
    )


def _tiles(report: PolicyReport) -> list[tuple[str, str]]:
    worst = {name: [getattr(one, name) for one in report.compared] for name in ("rows_off", "tr_off", "scales_off")}
    largest = {name: f"{max(values):.1e}" if values else "" for name, values in worst.items()}
    return [
        ("replans compared", str(len(report.compared))),
        ("equal to the bit", str(sum(one.equal for one in report.compared))),
        ("outside the tolerance", str(len(report.outside))),
        ("largest difference of a row [rad]", largest["rows_off"]),
        ("largest difference of TR, relative", largest["tr_off"]),
        ("largest difference of a scale", largest["scales_off"]),
    ]


def _chart(report: PolicyReport) -> str:
    found = [one for one in report.compared if not one.trouble]
    if not found:
        return "<p>No question was answered.</p>"
    columns = [
        np.array([float(getattr(one, name)) for one in found])
        for name in ("first_row", "tr_was", "tr_is", "rows_off", "scales_off")
    ]
    return Drawing().chart(lambda charts: charts.then_and_now(*columns, report.tolerance.rows))


def _cells(one: Compared, report: PolicyReport) -> tuple[str, ...]:
    inside = one.within(report.tolerance.rows, report.tolerance.tr)
    state = one.trouble or ("equal" if one.equal else "within" if inside else "OUTSIDE")
    numbers = (f"{one.rows_off:.2e}", f"{one.tr_was:.4f}", f"{one.tr_is:.4f}", f"{one.scales_off:.1e}")
    branches = ("+".join(one.branches_were), "+".join(one.branches_are))
    return (one.id.split("/", 1)[-1], str(one.first_row), *numbers, *branches, state)
