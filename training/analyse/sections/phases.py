"""3. Temporal Ratio by phase, beside what masking and swapping do at the same replans."""

from __future__ import annotations

from typing import Any

from training.analyse.charts import intervals
from training.analyse.outcomes import Results
from training.analyse.section import Section, mark, paragraph, resolved, span_text, state_of, table

_READINGS = {
    "ratios": "Temporal Ratio",
    "mask_effect": "change of rows when masked [rad]",
    "swap_effect": "change of rows when swapped [rad]",
}


def section(found: dict[str, Any], results: Results) -> Section:
    """A chart of TR by phase, and a table of the three readings."""
    told = found["tr_phase_effect"]
    phases = {phase: one for phase, one in told["ratios"]["by_phase"].items() if one["value"] is not None}
    chart = ""
    if phases:
        top = 1.25 * max(one["interval"][1] for one in phases.values())
        ticks = _ticks(top)
        marks = [
            mark(phase, one, f"{one['value']:.3f}, {one['count']} replans", _tone(phase))
            for phase, one in phases.items()
        ]
        chart = intervals(marks, 0.0, top, ticks)
    rows = [
        (name, *(span_text(told[reading][part], 4) for part in ("planning", "contact")), span_text(told[reading]["d"]))
        for reading, name in _READINGS.items()
    ]
    head = ("on seen pairs, future kept", "planning phases", "contact phases", "effect size d")
    entries = [told[reading]["d"] for reading in _READINGS]
    note = paragraph(
        "Planning: approach and transport (orange). Contact: grasp and place (blue). Phases come from physics and are "
        "never given to the policy. A TR says how much the head attends to future tokens, not that it uses them; hence "
        "the two rows below it. d: difference of means over the deviation of replans; intervals resample layouts.",
        soft=True,
    )
    return Section("Temporal Ratio by phase", state_of(entries), _answer(told), chart + table(head, rows) + note)


def _answer(told: dict[str, Any]) -> str:
    if told["value"] is None:
        return "Not run."
    size = span_text(told)
    if not resolved(told):
        return f"TR does not differ between planning and contact phases (d = {size})."
    side = "higher" if told["value"] > 0 else "LOWER"
    return f"TR is {side} in planning phases than in contact phases: d = {size}."


def _ticks(top: float) -> list[float]:
    """Round numbers from 0 to below `top`, at most six."""
    sizes = (size * 10.0**power for power in range(-4, 4) for size in (1, 2, 5))
    step = next(size for size in sizes if top / size <= 6)
    return [round(step * i, 6) for i in range(int(top / step) + 1)]


def _tone(phase: str) -> str:
    return {"approach": "orange", "transport": "orange", "grasp": "blue", "place": "blue"}.get(phase, "grey")
