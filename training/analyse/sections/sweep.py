"""4. Over designs: does more TR go with a smaller gap between seen and held-out pairs?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from training.analyse.charts import Point, scatter
from training.analyse.outcomes import Results
from training.analyse.section import Section, paragraph, rate_text, resolved, span_text, table


def section(found: dict[str, Any], results: Results) -> Section:
    """Scatter and table of the design points."""
    told = found["tr_ood_spearman"]
    points = told["points"]
    whole = [one for one in points if one["tr"] is not None and one["gap"] is not None]
    if not whole:
        body = paragraph(
            f"At least {told['wanted_points']} designs (adaptation x sigma x horizon) are wanted; none was evaluated."
        )
        return Section("Temporal Ratio against the ID-OOD gap", "not run", "Not run.", body)
    marks = [Point(one["tr"], one["gap"], *one["gap_interval"], str(n)) for n, one in enumerate(whole, 1)]
    chart = scatter(marks, "mean TR on seen pairs", "ID - OOD success") if len(whole) > 1 else ""
    rows = [
        (
            number,
            _name(one),
            f"{one['tr']:.3f}",
            rate_text(one["id"]),
            rate_text(one["ood"]),
            f"{100 * one['gap']:+.1f} ({100 * one['gap_interval'][0]:+.0f} to {100 * one['gap_interval'][1]:+.0f})",
        )
        for number, one in enumerate(whole, 1)
    ]
    enough = told["value"] is not None and len(whole) >= told["wanted_points"]
    answer = _answer(told, len(whole)) if told["value"] is not None else told["reason"]
    return Section(
        "Temporal Ratio against the ID-OOD gap",
        "measured" if enough else "partly",
        answer,
        chart + table(("", "design", "TR", "seen", "held-out", "gap, points"), rows) + _note(whole),
    )


def _answer(told: dict[str, Any], designs: int) -> str:
    found = f"Spearman {span_text(told)} over {designs} designs"
    if not resolved(told):
        return f"{found}: no correlation is shown, and the paper's negative one is not ruled out."
    return f"{found}: as in the paper." if told["value"] < 0 else f"{found}: the opposite of the paper's."


def _note(points: Sequence[dict[str, Any]]) -> str:
    seeds = sorted({one["id"]["training_seeds"] for one in points})
    runs = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    return paragraph(
        "The paper expects a negative correlation: more TR, smaller gap. Each point is of short runs from the same "
        f"start (training/configs/sweep), training seeds a point: {runs}. The interval of a gap is as wide as most "
        "differences between points; the interval of the correlation takes the points as given.",
        soft=True,
    )


def _name(one: dict[str, Any]) -> str:
    return f"{one['adaptation'] or '?'}, sigma {one['sigma']}, {one['horizon'] / 10:.1f} s ahead"
