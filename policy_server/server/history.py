"""History: the last answers in numbers, kept by the socket thread and read by whoever looks."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from typing import Final

from contract.types import ActionChunk
from policy_server.percentiles import percentiles

KEPT: Final = 1024
"""Answers that percentiles are taken over: some minutes of one robot."""


class History:
    """Stage times, Temporal Ratio and branches of the last answers; bounded, and safe to read from any thread."""

    def __init__(self, kept: int = KEPT) -> None:
        self._lock = threading.Lock()
        self._kept = kept
        self._stages_ns: dict[str, deque[int]] = {}
        self._ratios: deque[float] = deque(maxlen=kept)
        self._run: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()

    def note(self, chunk: ActionChunk) -> None:
        """Remember one answer."""
        with self._lock:
            for stage, spent_ns in chunk.durations_ns.items():
                self._stages_ns.setdefault(stage, deque(maxlen=self._kept)).append(spent_ns)
            self._ratios.append(chunk.temporal_ratio.value)
            self._run.update(chunk.branches_run)
            self._dropped.update(chunk.branches_dropped)

    def stages_ms(self) -> dict[str, dict[str, float]]:
        """Stage -> p50, p95, p99 [ms] of the kept answers; empty before the first."""
        with self._lock:
            kept = {stage: list(values) for stage, values in self._stages_ns.items()}
        return {stage: percentiles([value / 1e6 for value in values]) for stage, values in kept.items()}

    def temporal_ratio(self) -> dict[str, float]:
        """p50, p95, p99 of the kept answers' TR; empty before the first."""
        with self._lock:
            values = list(self._ratios)
        return percentiles(values) if values else {}

    def branches(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Branches run and branches dropped since start, by name."""
        with self._lock:
            return dict(self._run), dict(self._dropped)
