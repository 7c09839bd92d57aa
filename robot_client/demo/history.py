"""What one run leaves behind: ticks, answered replans, failures, modes."""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import JOINT_MASK, SIZE
from robot_client.local_messages import LoopStatus, PlanFailure, ReplanRecord, TickBatch

MAX_BATCHES: Final = 40_000
"""Over an hour of ticks, about 200 MB; the oldest are let go."""
MAX_REPLANS: Final = 50_000
UNDERRUNS: Final = "ticks_without_plan"
"""Counter of ticks in which the policy had the arms and no row was left."""
SKIPPED: Final = "periods_skipped"
"""Counter of whole periods that the loop missed."""
_NS_PER_MS: Final = 1e6
_NS_PER_S: Final = 1e9


class History:
    """Collects the messages of loop and planner and answers questions about the run."""

    def __init__(self, instruction: str) -> None:
        self.instruction = instruction
        self.replans: deque[ReplanRecord] = deque(maxlen=MAX_REPLANS)
        self.failures: deque[PlanFailure] = deque(maxlen=MAX_REPLANS)
        self.modes: list[str] = []
        self.counters: dict[str, int] = {}
        self._batches: deque[TickBatch] = deque(maxlen=MAX_BATCHES)

    def add(self, message: object) -> None:
        """Takes what is history and ignores the rest."""
        if isinstance(message, TickBatch):
            self._batches.append(message)
        elif isinstance(message, ReplanRecord):
            self.replans.append(message)
        elif isinstance(message, PlanFailure):
            self.failures.append(message)
        elif isinstance(message, LoopStatus):
            self.counters = dict(message.counters)
            if self.modes[-1:] != [message.mode]:
                self.modes.append(message.mode)

    @property
    def clips(self) -> dict[str, int]:
        """Reason -> ticks in which safety changed what was asked."""
        prefix = "clip_"
        return {name.removeprefix(prefix): n for name, n in self.counters.items() if name.startswith(prefix) and n}

    @property
    def has_ticks(self) -> bool:
        """The loop reported at least one tick."""
        return bool(self._batches)

    def column(self, name: str) -> NDArray:
        """One field of `TickBatch` over all ticks kept, (N, ...)."""
        parts = [getattr(batch, name) for batch in self._batches]
        return np.concatenate(parts) if parts else np.zeros((0,))

    def joints(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Times [s] from the first tick and asked, told, measured, each (N, 14)."""
        stamps = self.column("stamp_ns")
        if len(stamps) == 0:
            nothing = np.zeros((0, SIZE))
            return np.zeros(0), nothing, nothing, nothing
        times_s = (stamps - stamps[0]) / _NS_PER_S
        return times_s, self.column("asked"), self.column("told"), self.column("measured")

    def joint_travel_rad(self) -> float:
        """Largest distance any joint was measured to cover, summed over the run."""
        measured = self.column("measured")
        if len(measured) < 2:
            return 0.0
        return float(np.nansum(np.abs(np.diff(measured[:, JOINT_MASK], axis=0)), axis=0).max())

    def lateness_ms(self) -> NDArray:
        """(N,) start of each tick after its deadline."""
        return self.column("lateness_ns") / _NS_PER_MS

    def chunk_ages_ms(self) -> NDArray:
        """(K,) age of the observation behind each executed tick of a chunk."""
        asked_ns = {f"{r.session}/{r.epoch}/{r.sequence}": r.asked_ns for r in self.replans}
        ages = [
            stamp - asked_ns[batch.chunks[chunk]]
            for batch in self._batches
            for stamp, chunk in zip(batch.stamp_ns, batch.chunk, strict=True)
            if chunk >= 0 and batch.chunks[chunk] in asked_ns
        ]
        return np.array(ages, float) / _NS_PER_MS

    def rows_executed(self) -> int:
        """Rows that became due while their chunk was in force."""
        rows = {
            (batch.chunks[chunk], int(row))
            for batch in self._batches
            for row, chunk in zip(batch.row, batch.chunk, strict=True)
            if chunk >= 0
        }
        return len(rows)

    def unplanned_ticks(self) -> int:
        """Ticks in POLICY that ran no row of a chunk."""
        return sum(
            int(np.sum((batch.mode == batch.modes.index("POLICY")) & (batch.chunk < 0)))
            for batch in self._batches
            if "POLICY" in batch.modes
        )

    def unanswered_ticks(self) -> int:
        """Ticks that ran a row of a chunk which is not among the answers of the server."""
        answered = {f"{replan.session}/{replan.epoch}/{replan.sequence}" for replan in self.replans}
        return sum(
            int(np.isin(batch.chunk, [i for i, name in enumerate(batch.chunks) if name not in answered]).sum())
            for batch in self._batches
        )

    def replan_times_s(self) -> NDArray:
        """(R,) time of each question since the first."""
        asked = np.array([replan.asked_ns for replan in self.replans], float)
        return (asked - asked[0]) / _NS_PER_S if len(asked) else asked

    def replan_rate_hz(self) -> float:
        """Answered replans per second."""
        times_s = self.replan_times_s()
        span_s = float(times_s[-1] - times_s[0]) if len(times_s) else 0.0
        return (len(times_s) - 1) / span_s if span_s > 0.0 else 0.0

    def branches(self) -> list[int]:
        """Branches run, per replan."""
        return [len(replan.branches_run) for replan in self.replans]

    def branch_counts(self) -> dict[str, int]:
        """How many replans ran 1, 2, 3 branches."""
        counts = self.branches()
        return {f"{n} branch{'es' if n > 1 else ''}": counts.count(n) for n in (1, 2, 3)}

    def branches_dropped(self) -> int:
        """Branches wanted by the scales that did not fit the budget."""
        return sum(len(replan.branches_dropped) for replan in self.replans)

    def stages_ms(self) -> dict[str, NDArray]:
        """Stage -> (R,) ms, in the order of the line: robot, server's stages, and the whole."""
        if not self.replans:
            return {}
        whole = np.array([r.answered_ns - r.asked_ns for r in self.replans]) / _NS_PER_MS
        stages = {"images: fit": np.array([r.resize_ns for r in self.replans]) / _NS_PER_MS}
        names = dict.fromkeys(name for replan in self.replans for name in replan.durations_ns)
        for name in names:
            values = [r.durations_ns[name] for r in self.replans if name in r.durations_ns]
            stages[f"server: {name}"] = np.array(values) / _NS_PER_MS
        return {**stages, "asked to answered": whole}
