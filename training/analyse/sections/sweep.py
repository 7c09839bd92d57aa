"""4. Over designs: does more TR go with a smaller gap between seen and held-out pairs?"""

from __future__ import annotations

from typing import Any

from training.analyse.charts import scatter
from training.analyse.outcomes import Results
from training.analyse.section import Section, paragraph, rate_text, span_text, table


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
    marks = [(one["tr"], one["gap"], _name(one)) for one in whole]
    chart = scatter(marks, "mean TR on seen pairs", "ID - OOD success") if len(whole) > 1 else ""
    rows = [
        (
            _name(one),
            f"{one['tr']:.3f}",
            rate_text(one["id"]),
            rate_text(one["ood"]),
            f"{100 * one['gap']:+.1f} ({100 * one['gap_interval'][0]:+.0f} to {100 * one['gap_interval'][1]:+.0f})",
        )
        for one in whole
    ]
    enough = told["value"] is not None and len(whole) >= told["wanted_points"]
    answer = f"Spearman {span_text(told)} over {len(whole)} designs." if told["value"] is not None else told["reason"]
    return Section(
        "Temporal Ratio against the ID-OOD gap",
        "measured" if enough else "partly",
        answer,
        chart + table(("design", "TR", "seen", "held-out", "gap, points"), rows) + _note(),
    )


def _note() -> str:
    return paragraph(
        "The paper expects a negative correlation: more TR, smaller gap. Each point is one short run from the same "
        "start (training/configs/sweep), one seed. The interval of a gap is as wide as most differences between "
        "points; the interval of the correlation takes the points as given.",
        soft=True,
    )


def _name(one: dict[str, Any]) -> str:
    return f"{one['adaptation'] or '?'}, sigma {one['sigma']}, {one['horizon'] / 10:.1f} s ahead"
