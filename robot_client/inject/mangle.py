"""What becomes of one answer on its way from the server: pure, a clock and a generator of numbers come in."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from contract.errors import LinkTimeoutError
from contract.server_info import ServerInfo
from contract.types import ActionChunk
from robot_client.clock import NS_PER_S
from robot_client.inject.fault import ANSWERS, Fault, Kind
from robot_client.inject.once import Occurrence
from robot_client.link.asked import Answer, judge

_NAN_ROW: Final = 1


class Mangler:
    """Answers in, answers out, now or later. What would have come after its time is the timeout that the link makes of
    it, and what does not fit its question is the error that the link makes of that."""

    def __init__(
        self, faults: Sequence[Fault], seed: int, happens: Callable[[Fault], None] = lambda fault: None
    ) -> None:
        self._faults = [fault for fault in faults if fault.kind in ANSWERS and not fault.target]
        self._happens = happens
        self._random = np.random.default_rng([seed, 0x1A3C])
        self._later: list[Answer] = []
        self._held: list[Answer] = []
        self._before: ActionChunk | None = None
        self._occurrence = Occurrence()
        self.counts: Counter[str] = Counter()
        """Answers by what was done to them."""

    def take(self, answer: Answer, info: ServerInfo, elapsed_s: float | None, engagement: int) -> None:
        """One answer has come."""
        newest = answer.outcome if isinstance(answer.outcome, ActionChunk) else None
        now = [fault for fault in self._faults if self._occurrence.now(fault, elapsed_s, engagement)]
        there: dict[Kind, Fault] = {fault.kind: fault for fault in now}
        if newest is not None:
            answer = self._spoilt(answer, newest, info, there)
        lag_ns = 0
        if "drop" in there and self._random.random() < there["drop"].value:
            self._do(there["drop"])
            lag_ns = answer.asked.due_ns  # beyond any deadline
        elif "delay" in there:
            delay = there["delay"]
            self._do(delay)
            lag_ns = int(self._random.uniform(delay.value - delay.spread, delay.value + delay.spread) * NS_PER_S)
        self._before = newest or self._before
        if "reorder" in there:
            self._do(there["reorder"])
            self._held.append(answer)
            return
        self._later.append(_in_time(answer, answer.answered_ns + lag_ns))
        self._later += [_in_time(held, answer.answered_ns) for held in self._held]
        self._held.clear()

    def due(self, now_ns: int) -> list[Answer]:
        """Answers whose time has come, in its order."""
        for held in [held for held in self._held if held.asked.due_ns <= now_ns]:
            self._held.remove(held)
            self._later.append(_in_time(held, now_ns))
        self._later.sort(key=lambda answer: answer.answered_ns)
        here = [answer for answer in self._later if answer.answered_ns <= now_ns]
        self._later = self._later[len(here) :]
        return here

    def next_due_ns(self) -> int | None:
        """When `due` has something; None = nothing waits."""
        waiting = [answer.answered_ns for answer in self._later] + [held.asked.due_ns for held in self._held]
        return min(waiting, default=None)

    def _spoilt(self, answer: Answer, chunk: ActionChunk, info: ServerInfo, there: dict[Kind, Fault]) -> Answer:
        """With a NaN, or with what answers an older question, judged as the link would."""
        wrong = chunk
        old = there.get("stale") or there.get("swap")
        if old is not None and self._before is not None:
            wrong = self._before
            self._do(old)
        if "nan" in there:
            rows = wrong.rows.copy()
            rows[min(_NAN_ROW, len(rows) - 1), 0] = np.nan
            wrong = dataclasses.replace(wrong, rows=rows)
            self._do(there["nan"])
        return answer if wrong is chunk else dataclasses.replace(answer, outcome=judge(answer.asked, wrong, info))

    def _do(self, fault: Fault) -> None:
        self.counts[fault.kind] += 1
        self._happens(fault)


def _in_time(answer: Answer, at_ns: int) -> Answer:
    """The answer at that time; too late, it is the link's timeout at the moment at which the link gives up."""
    due_ns = answer.asked.due_ns
    if at_ns < due_ns:
        return dataclasses.replace(answer, answered_ns=at_ns)
    error = LinkTimeoutError(
        f"answer to sequence {answer.asked.observation.sequence}",
        expected=f"within {(due_ns - answer.asked.asked_ns) / 1e6:g} ms",
        got="none in time (injected)",
        remedy="the link stays usable; a late answer is thrown away",
    )
    return dataclasses.replace(answer, outcome=error, answered_ns=due_ns)
