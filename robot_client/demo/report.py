"""One self-contained HTML page about a run."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.demo.drawing import Draw, Drawing
from robot_client.demo.history import SKIPPED, UNDERRUNS, History
from robot_client.demo.page import notice as boxed
from robot_client.demo.page import page, table, tiled
from robot_client.percentile import percentile

_TEMPLATE: Final = Path(__file__).with_name("report.html")
_FILM_BYTES: Final = 24 * 1024 * 1024
"""A larger film is linked, not embedded."""
_CHART_TICKS: Final = 1000
"""Ticks drawn per channel; more make the page slow and show nothing new."""
_CHART_REPLANS: Final = 1000
_NOTHING: Final = "<p>No replan was answered in this run.</p>"
_UNDRAWN: Final = {
    "ratio_chart": _NOTHING,
    "branch_chart": _NOTHING,
    "stage_chart": _NOTHING,
    "joint_chart": "<p>The loop recorded no tick.</p>",
}
"""What stands in the place of a chart for which there is no data."""
Charts = Mapping[str, Future[str]]
"""By their place in the template."""


def asked_charts(history: History, drawing: Drawing) -> Charts:
    """Has everything drawn for which there is data; what `history` hears of later is not in it."""
    draws: dict[str, Draw] = {}
    if history.replans:
        draws["ratio_chart"] = _ratio_chart(history)
        draws["branch_chart"] = _branch_chart(history)
    if stages := history.stages_ms():
        draws["stage_chart"] = lambda charts: charts.stage_latencies(stages)
    if history.has_ticks:
        draws["joint_chart"] = _joint_chart(history)
    return {name: drawing.ask(draw) for name, draw in draws.items()}


def write_report(
    path: Path,
    history: History,
    facts: Mapping[str, str],
    notice: str,
    film: Path | None,
    drawing: Drawing | None = None,
    title: str = "Twin run",
    tiles: Sequence[tuple[str, str]] | None = None,
    charts: Charts | None = None,
) -> None:
    """Writes the page; `facts` are name and value lines of the run, `notice` stands at the top (empty: none).
    `tiles` take the place of the loop's own figures, where a recording has none. `charts` were asked of `drawing`
    before, else they are now.

    Raises `OSError` when the file cannot be written. Charts for which `drawing` has no time are left out.
    """
    drawing = drawing or Drawing()
    charts = asked_charts(history, drawing) if charts is None else charts
    stages = history.stages_ms()
    parts = {
        "title": html.escape(f"{title}: {history.instruction}"),
        "subtitle": html.escape(", ".join(facts[name] for name in ("policy", "engine", "runs on") if name in facts)),
        "notice": boxed(notice),
        "tiles": tiled(_tiles(history) if tiles is None else tiles),
        "film": _film(film),
        **{name: drawing.drawn(charts[name]) if name in charts else text for name, text in _UNDRAWN.items()},
        "stage_table": table(("stage", "p50 ms", "p95 ms", "p99 ms", "max ms"), _stage_rows(stages)) if stages else "",
        "clip_table": table(("reason", "ticks"), [(k, str(v)) for k, v in sorted(history.clips.items())])
        if history.clips
        else "<p>Nothing.</p>",
        "run_table": table(("", ""), [(name, value) for name, value in facts.items() if value]),
    }
    path.write_text(page(_TEMPLATE, parts), encoding="utf-8")


def _tiles(history: History) -> list[tuple[str, str]]:
    ages = history.chunk_ages_ms()
    lateness = history.lateness_ms()
    return [
        ("replans answered", str(len(history.replans))),
        ("replans per second", f"{history.replan_rate_hz():.2f}"),
        ("replans that ran 2 or 3 branches", str(sum(n > 1 for n in history.branches()))),
        ("branches dropped", str(history.branches_dropped())),
        ("rows executed", str(history.rows_executed())),
        ("underruns [ticks]", str(history.counters.get(UNDERRUNS, 0))),
        ("periods skipped", str(history.counters.get(SKIPPED, 0))),
        ("tick lateness p99 [ms]", f"{percentile(lateness, 99):.2f}"),
        ("chunk age when executed, p95 [ms]", f"{percentile(ages, 95):.0f}"),
        ("largest joint travel [rad]", f"{history.joint_travel_rad():.2f}"),
    ]


def _stage_rows(stages: Mapping[str, NDArray]) -> list[tuple[str, ...]]:
    return [(name, *(f"{percentile(values, q):.2f}" for q in (50, 95, 99, 100))) for name, values in stages.items()]


def _ratio_chart(history: History) -> Draw:
    every = max(1, len(history.replans) // _CHART_REPLANS)
    replans = list(history.replans)[::every]
    values = (
        history.replan_times_s()[::every],
        np.array([replan.tr_value for replan in replans]),
        np.array([replan.tr_rank for replan in replans]),
        {
            "lang": np.array([replan.scale_lang for replan in replans]),
            "plan": np.array([replan.scale_plan for replan in replans]),
        },
        history.branches()[::every],
    )
    return lambda charts: charts.ratio_and_scales(*values)


def _branch_chart(history: History) -> Draw:
    counts = history.branch_counts()
    return lambda charts: charts.branch_counts(counts)


def _joint_chart(history: History) -> Draw:
    columns = history.joints()
    every = max(1, len(columns[0]) // _CHART_TICKS)
    shown = [column[::every] for column in columns]
    return lambda charts: charts.asked_told(*shown)


def _film(film: Path | None) -> str:
    if film is None or not film.is_file():
        return ""
    if film.stat().st_size > _FILM_BYTES:
        return f'<p><a href="{html.escape(film.name)}">{html.escape(film.name)}</a></p>'
    data = base64.b64encode(film.read_bytes()).decode()
    return f'<video controls muted src="data:video/mp4;base64,{data}"></video>'
