"""One figure of results.json: value, interval, count; or null with the reason."""

from __future__ import annotations

from typing import Any

from training.analyse.resampling import Estimate
from training.evaluate.interval import Rate, wilson

Entry = dict[str, Any]


def entry(found: Estimate | Rate | None, reason: str = "not run", **facts: Any) -> Entry:
    """JSON-ready; `reason` counts only when nothing was found."""
    if found is None:
        return {"value": None, "interval": None, "count": 0, "reason": reason}
    count = found.trials if isinstance(found, Rate) else found.count
    return {
        "value": round(found.value, 4), "interval": [round(found.low, 4), round(found.high, 4)], "count": count, **facts
    }  # fmt: skip


def rate_of(successes: list[bool]) -> Rate | None:
    """Wilson's; None without trials."""
    return wilson(sum(successes), len(successes)) if successes else None
