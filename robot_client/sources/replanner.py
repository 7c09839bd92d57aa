"""When to ask the policy again, and how many rows to commit while it thinks."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Final

from contract.types import GuidanceMode
from robot_client.chunk_buffer import ChunkBuffer
from robot_client.chunk_entry import Commitment
from robot_client.clock import NS_PER_MS

ANSWERS_KEPT: Final = 8
"""Answer times that count. The first answer after an engagement does not: it may be a warm-up (B09)."""
RETRY_NS: Final = 100 * NS_PER_MS
"""Shortest time from a failed request to the next one."""


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """What the replans of one run have in common."""

    replan_rows: int
    """Rows between two replans."""
    budget_ns: int
    """Time the server may take."""
    grace_ns: int
    """From the expiry of the last row to HOLD."""
    patience_ns: int
    """Longest wait for the first chunk after engagement; the arms stand still meanwhile."""
    seed: int = 0
    guidance: GuidanceMode = "adaptive"
    lead_ns: int = 0
    """How far ahead in the plan the arms are told, so that they are where a row wants them when it wants it."""


@dataclass(frozen=True, slots=True)
class _Open:
    sequence: int
    asked_ns: int


class Replanner:
    """One request at a time, by rows executed: never by whether the observation looks new (B11)."""

    def __init__(self, settings: PlanSettings, step_ns: int, answer_ns: int) -> None:
        self._settings, self._step_ns = settings, step_ns
        self._answer_ns = answer_ns
        self.lost = 0
        self.begin(0)

    def begin(self, now_ns: int) -> None:
        """A new engagement: nothing is in flight that still counts."""
        self._open: _Open | None = None
        self._asked_row = -1
        self._not_before_ns = now_ns
        self._warm = False
        self._answers: deque[int] = deque(maxlen=ANSWERS_KEPT)

    def void(self) -> None:
        """Whatever is in flight belongs to an older epoch."""
        self._open = None

    @property
    def in_flight(self) -> bool:
        """A request waits for its answer."""
        return self._open is not None

    def expected_ns(self) -> int:
        """Time an answer is expected to take: the slowest of the last few, at first what the server says of itself."""
        return max(self._answers, default=self._answer_ns)

    def rows_ahead(self, buffer: ChunkBuffer, now_ns: int) -> int:
        """Rows after the one in execution that the arms will have been told before the answer is here."""
        told_ns = self.expected_ns() + self._settings.lead_ns
        return math.ceil(buffer.fraction_at(now_ns) + told_ns / self._step_ns)

    def due(self, buffer: ChunkBuffer, now_ns: int) -> bool:
        """Whether to ask now. A request that was never answered, not even by a failure, is given up in time."""
        if self._open is not None and now_ns - self._open.asked_ns > 2 * self._settings.budget_ns + RETRY_NS:
            self.lost += 1
            self.failed(self._open.sequence, buffer, now_ns)
        if self._open is not None or now_ns < self._not_before_ns:
            return False
        row = buffer.row_at(now_ns)
        enough = row - self._asked_row >= self._settings.replan_rows
        short = buffer.rows_left(now_ns) <= self.rows_ahead(buffer, now_ns) + 1
        return row < 0 or enough or short

    def commit(self, buffer: ChunkBuffer, now_ns: int) -> Commitment:
        """Fix the rows that run meanwhile and note the request."""
        commitment = buffer.commit(now_ns, self.rows_ahead(buffer, now_ns))
        self._open = _Open(commitment.sequence, now_ns)
        self._asked_row = buffer.row_at(now_ns)
        return commitment

    def answered(self, sequence: int, now_ns: int) -> None:
        """A chunk came for `sequence`."""
        if self._open is None or self._open.sequence != sequence:
            return
        if self._warm:
            self._answers.append(now_ns - self._open.asked_ns)
        self._warm, self._open = True, None

    def failed(self, sequence: int, buffer: ChunkBuffer, now_ns: int) -> None:
        """No chunk will come for `sequence`; its rows are free, and the next request waits a little."""
        buffer.forget(sequence)
        if self._open is not None and self._open.sequence == sequence:
            self._open = None
            self._asked_row = buffer.row_at(now_ns) - self._settings.replan_rows
            self._not_before_ns = now_ns + RETRY_NS
