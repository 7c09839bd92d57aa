"""One self-contained HTML page about a run."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.demo.drawing import Drawing
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


def write_report(
    path: Path,
    history: History,
    facts: Mapping[str, str],
    notice: str,
    film: Path | None,
    drawing: Drawing | None = None,
    title: str = "Twin run",
    tiles: Sequence[tuple[str, str]] | None = None,
) -> None:
    """Writes the page; `facts` are name and value lines of the run, `notice` stands at the top (empty: none).
    `tiles` take the place of the loop's own figures, where a recording has none.

    Raises `OSError` when the file cannot be written. Charts for which `drawing` has no time are left out.
    """
    draw = (drawing or Drawing()).chart
    stages = history.stages_ms()
    parts = {
        "title": html.escape(f"{title}: {history.instruction}"),
        "subtitle": html.escape(", ".join(facts[name] for name in ("policy", "engine", "runs on") if name in facts)),
        "notice": boxed(notice),
        "tiles": tiled(_tiles(history) if tiles is None else tiles),
        "film": _film(film),
        "ratio_chart": draw(partial(_ratio_chart, history)) if history.replans else _NOTHING,
        "branch_chart": draw(partial(_branch_chart, history)) if history.replans else _NOTHING,
        "stage_chart": draw(lambda charts: charts.stage_latencies(stages)) if stages else _NOTHING,
        "stage_table": table(("stage", "p50 ms", "p95 ms", "p99 ms", "max ms"), _stage_rows(stages)) if stages else "",
        "joint_chart": draw(partial(_joint_chart, history))
        if history.has_ticks
        else "<p>The loop recorded no tick.</p>",
        "clip_table": table(("reason", "ticks"), [(k, str(v)) for k, v in sorted(history.clips.items())])
        if history.clips
        else "<p>Nothing.</p>",
        "run_table": table(("", ""), [(name, value) for name, value in facts.items() if value]),
    }
    path.write_text(page(_TEMPLATE, parts), encoding="utf-8")


_NO_TICK: Final = "<p>The loop recorded no tick.</p>"
_NOTHING: Final = "<p>No replan was answered in this run.</p>"


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


def _ratio_chart(history: History, charts: ModuleType) -> str:
    every = max(1, len(history.replans) // _CHART_REPLANS)
    replans = list(history.replans)[::every]
    return charts.ratio_and_scales(
        history.replan_times_s()[::every],
        np.array([replan.tr_value for replan in replans]),
        np.array([replan.tr_rank for replan in replans]),
        {
            "lang": np.array([replan.scale_lang for replan in replans]),
            "plan": np.array([replan.scale_plan for replan in replans]),
        },
        history.branches()[::every],
    )


def _branch_chart(history: History, charts: ModuleType) -> str:
    return charts.branch_counts(history.branch_counts())


def _joint_chart(history: History, charts: ModuleType) -> str:
    times_s, asked, told, measured = history.joints()
    every = max(1, len(times_s) // _CHART_TICKS)
    return charts.asked_told(times_s[::every], asked[::every], told[::every], measured[::every])


def _film(film: Path | None) -> str:
    if film is None or not film.is_file():
        return ""
    if film.stat().st_size > _FILM_BYTES:
        return f'<p><a href="{html.escape(film.name)}">{html.escape(film.name)}</a></p>'
    data = base64.b64encode(film.read_bytes()).decode()
    return f'<video controls muted src="data:video/mp4;base64,{data}"></video>'
