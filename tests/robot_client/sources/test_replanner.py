"""When the policy is asked, and how many rows are committed meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from contract.types import ActionChunk, GuidanceScales, TemporalRatio
from robot_client.chunk_buffer import ChunkBuffer
from robot_client.chunk_entry import Commitment
from robot_client.clock import NS_PER_MS
from robot_client.sources.replanner import ANSWERS_KEPT, RETRY_NS, PlanSettings, Replanner

STEP = 100 * NS_PER_MS
BUDGET = 400 * NS_PER_MS
SETTINGS = PlanSettings(replan_rows=4, budget_ns=BUDGET, grace_ns=0, patience_ns=0)


def _pair(horizon: int = 16) -> tuple[Replanner, ChunkBuffer]:
    buffer = ChunkBuffer(STEP, horizon, 8)
    buffer.engage(1)
    replanner = Replanner(SETTINGS, STEP, answer_ns=90 * NS_PER_MS)
    replanner.begin(0)
    return replanner, buffer


def _answer(replanner: Replanner, buffer: ChunkBuffer, asked: Commitment, now_ns: int, horizon: int = 16) -> None:
    reading = TemporalRatio(0.0, 0.0, 0.0, np.zeros((0, 0, 0, 0, 2), np.float32))
    rows = np.zeros((horizon - len(asked.prefix), 14), np.float32)
    scales = GuidanceScales(0.0, 0.0)
    chunk = ActionChunk("s", 1, asked.sequence, 0, asked.first_row, rows, reading, scales, ("full",), (), {}, "e")
    assert buffer.accept(chunk, now_ns).refusal is None
    replanner.answered(asked.sequence, now_ns)


def _started() -> tuple[Replanner, ChunkBuffer]:
    """Row 0 is due at 0; the first answer, which does not count, took 0 ms."""
    replanner, buffer = _pair()
    _answer(replanner, buffer, replanner.commit(buffer, 0), 0)
    return replanner, buffer


def test_the_first_question_is_asked_at_once_and_never_two_at_a_time() -> None:
    replanner, buffer = _pair()
    assert replanner.due(buffer, 0)
    replanner.commit(buffer, 0)
    assert replanner.in_flight
    assert not any(replanner.due(buffer, now) for now in range(0, BUDGET, 10 * NS_PER_MS))


def test_questions_come_replan_rows_apart_counted_from_the_question() -> None:
    """The first one was asked before row 0, at row -1."""
    replanner, buffer = _started()
    asked_at = []
    for now in range(0, 20 * STEP, STEP // 10):
        if replanner.due(buffer, now):
            asked_at.append(now / STEP)
            _answer(replanner, buffer, replanner.commit(buffer, now), now)
    assert asked_at == [3, 7, 11, 15, 19]


def test_a_plan_that_is_nearly_over_is_renewed_earlier_in_time_for_an_answer() -> None:
    replanner, buffer = _pair(horizon=4)
    _answer(replanner, buffer, replanner.commit(buffer, 0), 0, horizon=4)
    assert not replanner.due(buffer, STEP // 10), "one row passes during the answer, one is spare, three are left"
    assert replanner.due(buffer, STEP // 5), "two rows pass"


@pytest.mark.parametrize(
    ("at", "answer_ms", "rows"), [(0.0, 100, 1), (0.0, 101, 2), (0.5, 40, 1), (0.5, 60, 2), (0.9, 250, 4)]
)
def test_rows_ahead_cover_the_rest_of_the_row_and_the_expected_answer(at: float, answer_ms: int, rows: int) -> None:
    _, buffer = _started()
    replanner = Replanner(SETTINGS, STEP, answer_ms * NS_PER_MS)
    assert replanner.rows_ahead(buffer, int((3 + at) * STEP)) == rows


def test_the_slowest_of_the_last_answers_is_expected_and_the_first_one_does_not_count() -> None:
    """B09: the warm-up's 700 ms stayed in the running maximum for the whole session."""
    replanner, buffer = _pair()
    assert replanner.expected_ns() == 90 * NS_PER_MS
    now = 0
    for i, took_ms in enumerate((700, 50, 300, *(60,) * ANSWERS_KEPT)):
        asked = replanner.commit(buffer, now)
        now += took_ms * NS_PER_MS
        _answer(replanner, buffer, asked, now)
        expected = 90 if i == 0 else 50 if i == 1 else 300 if i <= ANSWERS_KEPT + 1 else 60
        assert replanner.expected_ns() == expected * NS_PER_MS
    assert replanner.expected_ns() == 60 * NS_PER_MS


def test_after_a_failure_the_next_question_waits_a_little_and_then_comes_whatever_row_it_is() -> None:
    replanner, buffer = _started()
    asked = replanner.commit(buffer, 4 * STEP)
    replanner.failed(asked.sequence, buffer, 4 * STEP + 1)
    assert not replanner.in_flight
    assert not replanner.due(buffer, 4 * STEP + RETRY_NS)
    assert replanner.due(buffer, 4 * STEP + 1 + RETRY_NS)


def test_a_failure_or_answer_of_another_request_leaves_the_one_in_flight_alone() -> None:
    replanner, buffer = _started()
    asked = replanner.commit(buffer, 4 * STEP)
    replanner.failed(asked.sequence - 1, buffer, 4 * STEP)
    replanner.answered(asked.sequence - 1, 5 * STEP)
    assert replanner.in_flight
    assert replanner.expected_ns() == 90 * NS_PER_MS


def test_a_request_without_any_answer_is_given_up_once_after_twice_its_budget() -> None:
    replanner, buffer = _started()
    replanner.commit(buffer, STEP)
    last = STEP + 2 * BUDGET + RETRY_NS
    assert not replanner.due(buffer, last)
    assert (replanner.in_flight, replanner.lost) == (True, 0)
    assert not replanner.due(buffer, last + 1)
    assert (replanner.in_flight, replanner.lost) == (False, 1)
    assert replanner.due(buffer, last + 1 + RETRY_NS)
    assert replanner.lost == 1


def test_a_new_engagement_forgets_what_was_in_flight_and_what_answers_took() -> None:
    replanner, buffer = _started()
    asked = replanner.commit(buffer, STEP)
    _answer(replanner, buffer, asked, 4 * STEP)
    replanner.commit(buffer, 5 * STEP)
    buffer.engage(2)
    replanner.begin(6 * STEP)
    assert replanner.due(buffer, 6 * STEP)
    assert replanner.expected_ns() == 90 * NS_PER_MS
