"""What the loop made of a person's act, as the answer of a service."""

from __future__ import annotations

from typing import Any, Final

from robot_client.local_messages import LoopStatus
from robot_client.modes import Mode

ANSWER_S: Final = 1.0
"""Longest wait for the loop's answer."""


class Verdict:
    """`before`: the loop's status when the act was passed on. `modes`: those that show that it was done."""

    def __init__(self, before: LoopStatus | None, modes: frozenset[Mode]) -> None:
        self._before, self._modes = before, modes
        self._refusals = _refusals(before)
        self._epoch = -1 if before is None else before.epoch

    def said(self, status: LoopStatus | None) -> bool:
        """Whether this status is the loop's answer."""
        if status is None or status is self._before:
            return False
        done = status.epoch > self._epoch and Mode(status.mode) in self._modes
        return done or _refusals(status) > self._refusals

    def fill(self, answer: Any, status: LoopStatus | None) -> Any:
        """The service's answer, from the newest status."""
        if status is None:
            answer.success, answer.message = False, "the loop says nothing"
            return answer
        refused = _refusals(status) > self._refusals
        answer.success = Mode(status.mode) in self._modes and not refused
        answer.message = status.notes.get("notice", "") if refused else f"{status.mode}: {status.reason}"
        return answer


def refused(answer: Any, why: str) -> Any:
    """An answer that says why the act was not even passed on."""
    answer.success, answer.message = False, why
    return answer


def _refusals(status: LoopStatus | None) -> int:
    return 0 if status is None else int(status.counters.get("refused_by_mode", 0))
