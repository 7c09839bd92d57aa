"""Late ticks of a bench: when they were, and whether they can be laid at the loop's own door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robot_client.bench.watched_clock import LATE_NS
from robot_client.clock import NS_PER_S

SHOWN: Final = 200
"""Late ticks of each window that are written down."""


def cause_of(note: Mapping[str, Any]) -> str:
    """What a late tick (`watched_clock.LateTick`) is put down to.

    "overran": the tick before was not done in time. "page fault", "evicted", "collected": it happened since the last
    wake-up. "woken late": none of these; the work was done, the thread slept, and the kernel woke it late.
    """
    if note["overran"]:
        return "overran"
    if note["major_faults"] or note["minor_faults"]:
        return "page fault"
    if note["evictions"]:
        return "evicted"
    return "collected" if note["collections"] else "woken late"


def blame(
    ours: Sequence[Sequence[Mapping[str, Any]]], bare: Sequence[NDArray[np.int64]], period_ns: int
) -> dict[str, object]:
    """For the results: how many were late in each window, at which second, and of ours by cause.

    `ours`: notes of each window. `bare`: lateness [ns] of every tick of each window, `period_ns` apart.
    """
    causes: dict[str, int] = {}
    for note in (note for window in ours for note in window):
        causes[cause_of(note)] = causes.get(cause_of(note), 0) + 1
    bare_at = [np.flatnonzero(window > LATE_NS) for window in bare]
    return {
        "later_than_ms": LATE_NS / 1e6,
        "ours_each_window": [len(window) for window in ours],
        "bare_each_window": [len(at) for at in bare_at],
        "ours_by_cause": causes,
        "ours": [[_told(note) for note in window[:SHOWN]] for window in ours],
        "bare_at_s": [[round(float(i) * period_ns / NS_PER_S, 3) for i in at[:SHOWN]] for at in bare_at],
    }


def _told(note: Mapping[str, Any]) -> dict[str, object]:
    return {
        "at_s": round(note["at_s"], 3),
        "late_ms": round(note["late_ns"] / 1e6, 3),
        "work_ms": round(note["work_ns"] / 1e6, 3),
        "waits": note["waits"],
        "cause": cause_of(note),
    }
