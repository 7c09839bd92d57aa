"""Timing calls so that the figure is the latency: to the end of the work, the first call apart, no outlier hidden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from contract.errors import StackError
from robot_client.clock import Clock
from robot_client.latency.figures import figures_ms


@runtime_checkable
class Promise(Protocol):
    """What a call gives back before its work is done."""

    def result(self) -> object:
        """Wait for the work."""


@dataclass(slots=True)
class Timed:
    """Durations of calls [ns]."""

    warm_up_ns: list[int] = field(default_factory=list)
    calls_ns: list[int] = field(default_factory=list)
    dropped: int = 0
    """Calls that gave no answer; their time is in no figure."""

    def report(self) -> dict[str, Any]:
        """`warm_up_ms`, `figures_ms` of the others, and how many were dropped."""
        return {
            "warm_up_ms": [round(ns / 1e6, 3) for ns in self.warm_up_ns],
            "figures_ms": figures_ms(self.calls_ns),
            "dropped": self.dropped,
        }


def time_calls(call: Callable[[], object], calls: int, clock: Clock, timed: Timed, warm_up: int = 1) -> Timed:
    """Add `calls` calls to `timed`, the first `warm_up` of them all apart. A promise is waited for within its call."""
    for _ in range(calls):
        begun_ns = clock.now_ns()
        try:
            outcome = call()
            if isinstance(outcome, Promise):
                outcome.result()
        except StackError:
            timed.dropped += 1
            continue
        spent_ns = clock.now_ns() - begun_ns
        (timed.warm_up_ns if len(timed.warm_up_ns) < warm_up else timed.calls_ns).append(spent_ns)
    return timed
