"""5. TR-adaptive guidance beside none, constant and inverted."""

from __future__ import annotations

from typing import Any

from training.analyse.charts import intervals
from training.analyse.entry import entry, rate_of
from training.analyse.findings import GUIDANCE
from training.analyse.outcomes import Results, of_split
from training.analyse.section import (
    Section,
    mark,
    paragraph,
    points_text,
    rate_text,
    resolved,
    span_text,
    state_of,
    table,
)


def section(found: dict[str, Any], results: Results) -> Section:
    """Rates, differences and cost of each kind of guidance."""
    arms = found["guidance"]
    marks = [
        mark(f"{name}, {label}", rates[split], rate_text(rates[split]), tone)
        for name, rates in arms.items()
        for split, label, tone in (("id", "seen", "blue"), ("ood", "held-out", "orange"))
        if rates[split]["value"] is not None or split == "ood"
    ]
    rows = [
        (
            name,
            *(points_text(rates[f"{s}_minus_reference"]) if name != "off" else "-" for s in ("id", "ood")),
            span_text(rates["replan_ms"], 0),
        )
        for name, rates in arms.items()
        if rates["replan_ms"]["value"] is not None
    ]
    head = (
        "guidance",
        "seen pairs minus off",
        "held-out pairs minus off",
        "replan [ms], median (5 to 95 % of replans)",
    )
    body = intervals(marks, 0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0), "%") + table(head, rows) + _choice(results)
    entries = [found["ood_success"][mode] for mode in GUIDANCE]
    return Section("Guidance", state_of(entries), _answer(arms), body)


def _answer(arms: dict[str, Any]) -> str:
    guided = {name: rates for name, rates in arms.items() if name != "off" and rates["ood"]["value"] is not None}
    if not guided:
        return "Guided runs on held-out pairs: not run. Nothing is claimed."
    better = [name for name, rates in guided.items() if _better(rates)]
    if better:
        return f"On held-out pairs success rises with {', '.join(better)}."
    return f"No gain on held-out pairs was found for {', '.join(guided)}."


def _better(rates: dict[str, Any]) -> bool:
    difference = rates["ood_minus_reference"]
    return resolved(difference) and difference["value"] > 0


def _choice(results: Results) -> str:
    """What the scales were chosen with; not evidence."""
    rows = []
    for cell, tried in results.where("choice"):
        part = of_split(tried, "id")
        rows.append((cell.policy, cell.method, cell.file, rate_text(entry(rate_of([one.success for one in part])))))
    if not rows:
        return ""
    head = ("policy", "method", "file", "seen pairs")
    told = paragraph("Scales were chosen on seen pairs only, with these; they prove nothing:", soft=True)
    return told + table(head, rows)
