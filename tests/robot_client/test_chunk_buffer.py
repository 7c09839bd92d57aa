"""Rows on the client's grid."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contract.station import load_station
from contract.types import ActionChunk, GuidanceScales, TemporalRatio
from robot_client.chunk_buffer import ChunkBuffer
from robot_client.chunk_entry import Commitment, Refusal
from robot_client.fade import Seam
from robot_client.safety.limits import limits_of

STEP = 100_000_000
TICK = 10_000_000


def _chunk(sequence: int, first_row: int, rows: NDArray, epoch: int = 1) -> ActionChunk:
    reading = TemporalRatio(0.0, 0.0, float("nan"), np.zeros((0, 0, 0, 0, 2), np.float32))
    scales = GuidanceScales(0.0, 0.0)
    return ActionChunk("s", epoch, sequence, 0, first_row, np.asarray(rows), reading, scales, ("full",), (), {}, "e")


def _line(first_row: int, count: int, slope: float = 0.01) -> NDArray:
    """Rows whose values are their number times `slope`, so that a row tells who it is."""
    return np.repeat(slope * np.arange(first_row, first_row + count), 14).reshape(count, 14)


def _answer(asked: Commitment, count: int, epoch: int = 1, slope: float = 0.01) -> ActionChunk:
    return _chunk(asked.sequence, asked.first_row, _line(asked.first_row, count, slope), epoch)


def _buffer(horizon: int = 16, max_prefix: int = 8) -> ChunkBuffer:
    buffer = ChunkBuffer(STEP, horizon, max_prefix)
    buffer.engage(1)
    return buffer


def _started(horizon: int = 16, max_prefix: int = 8, now_ns: int = 0) -> ChunkBuffer:
    buffer = _buffer(horizon, max_prefix)
    assert buffer.accept(_answer(buffer.commit(now_ns, 0), horizon), now_ns).refusal is None
    return buffer


def _values(buffer: ChunkBuffer, now_ns: int) -> float:
    target = buffer.target(now_ns)
    assert target is not None
    assert np.ptp(target.values) == 0.0
    return float(target.values.max())


def test_with_nothing_accepted_there_is_no_target() -> None:
    buffer = _buffer()
    assert buffer.target(5) is None
    assert buffer.row_at(5) == -1
    assert buffer.left_ns(5) == 0


def test_a_new_buffer_is_of_epoch_0_and_numbers_its_first_request_0() -> None:
    buffer = ChunkBuffer(STEP, 16, 8)
    asked = buffer.commit(0, 0)
    assert asked.sequence == 0
    assert buffer.commit(0, 0).sequence == 1
    assert buffer.accept(_answer(asked, 16, epoch=0), 0).refusal is None
    assert buffer.target(0) is not None


def test_what_is_left_is_counted_from_the_row_in_execution() -> None:
    empty, buffer = _buffer(), _started()
    assert (empty.rows_left(5), empty.fraction_at(5)) == (0, 0.0)
    for now, left, fraction, row in ((0, 15, 0.0, 0), (int(3.25 * STEP), 12, 0.25, 3), (99 * STEP, 0, 0.0, 15)):
        assert (buffer.rows_left(now), buffer.fraction_at(now), buffer.row_at(now)) == (left, fraction, row)


def test_a_request_of_the_old_epoch_is_void_although_its_answer_claims_the_new_one() -> None:
    buffer = _started()
    old = buffer.commit(2 * STEP, 1)
    buffer.continue_as(2)
    entry = buffer.accept(_answer(old, 12, epoch=2), 3 * STEP)
    assert (entry.refusal, entry.detail) == (Refusal.SEQUENCE, "sequence 1, accepted 0")


def test_before_the_first_acceptance_the_refusal_of_a_sequence_says_so() -> None:
    assert _buffer().accept(_chunk(7, 0, _line(0, 16)), 0).detail == "sequence 7, accepted -1"


def test_acceptances_and_entries_in_time_are_counted_as_such() -> None:
    buffer = _started()
    assert buffer.counts["accepted"] == 1
    asked = buffer.commit(4 * STEP, 1)
    buffer.accept(_answer(asked, 12), int(4.5 * STEP))
    assert (buffer.counts["accepted"], buffer.counts["entered_late"], buffer.counts["rows_skipped"]) == (2, 0, 0)
    asked = buffer.commit(5 * STEP, 0)
    buffer.accept(_answer(asked, 12), 9 * STEP)
    assert (buffer.counts["accepted"], buffer.counts["entered_late"], buffer.counts["standstills"]) == (3, 1, 0)


def test_a_chunk_that_comes_when_the_last_row_is_just_due_has_let_nothing_stand_still() -> None:
    for now, stood in ((15 * STEP, 0), (15 * STEP + 1, 1)):
        buffer = _started()
        asked = buffer.commit(14 * STEP, 1)
        assert buffer.accept(_answer(asked, 16), now).refusal is None
        assert buffer.counts["standstills"] == stood


def test_a_change_over_goes_on_as_it_was_when_a_plan_enters_that_says_the_same() -> None:
    def changing() -> ChunkBuffer:
        buffer = _started()
        asked = buffer.commit(4 * STEP, 0)
        buffer.accept(_chunk(asked.sequence, asked.first_row, _line(asked.first_row, 12) + 0.2), int(6.5 * STEP))
        return buffer

    alone, joined = changing(), changing()
    asked = joined.commit(int(6.6 * STEP), 0)
    same = _chunk(asked.sequence, asked.first_row, _line(asked.first_row, 9) + 0.2)
    assert joined.accept(same, int(6.8 * STEP)).refusal is None
    for tenths in range(68, 90):
        assert _values(joined, tenths * TICK) == pytest.approx(_values(alone, tenths * TICK), abs=1e-9)
    assert _values(alone, 7 * STEP) != pytest.approx(0.27, abs=1e-3), "the change-over is still going on there"


def test_every_refusal_is_counted_once() -> None:
    buffer = _started()
    buffer.accept(_chunk(9, 0, _line(0, 16)), 0)
    assert buffer.counts == {"accepted": 1, "rows_skipped": 0, "entered_late": 0, "refused_sequence": 1}


@pytest.mark.parametrize(("horizon", "count"), [(2, 1), (4, 3), (9, 8), (16, 8)])
def test_a_prefix_always_leaves_a_row_to_be_planned(horizon: int, count: int) -> None:
    asked = _started(horizon=horizon).commit(0, 20)
    assert (len(asked.prefix), asked.first_row) == (count, count)


@pytest.mark.parametrize("latency", [0, 3 * STEP, 700_000_000, 90 * STEP])
def test_the_first_chunk_starts_at_row_0_however_long_it_took(latency: int) -> None:
    """B09: the warm-up latency was taken for actions already executed, and 21 of 30 rows were thrown away."""
    buffer = _buffer()
    asked = buffer.commit(1000, 5)
    assert (asked.first_row, len(asked.prefix)) == (0, 0)
    now = 1000 + latency
    entry = buffer.accept(_answer(asked, 16), now)
    assert (entry.refusal, entry.row, entry.skipped) == (None, 0, 0)
    target = buffer.target(now)
    assert target is not None
    assert (target.row, target.fraction, target.chunk_id) == (0, 0.0, f"s/1/{asked.sequence}")
    np.testing.assert_array_equal(target.values, _line(0, 1)[0])


def test_the_target_goes_in_a_straight_line_from_row_to_row() -> None:
    buffer = _started()
    for k in range(15):
        for fraction in (0.0, 0.25, 0.9):
            assert _values(buffer, int((k + fraction) * STEP)) == pytest.approx(0.01 * (k + fraction))
            target = buffer.target(int((k + fraction) * STEP))
            assert target is not None
            assert (target.row, target.valid) == (k, True)
            assert target.fraction == pytest.approx(fraction)


def test_after_the_last_row_the_target_stays_on_it_and_is_no_longer_valid() -> None:
    buffer = _started()
    assert buffer.left_ns(15 * STEP) == STEP
    for now, valid in ((15 * STEP, True), (16 * STEP - 1, True), (16 * STEP, False), (99 * STEP, False)):
        target = buffer.target(now)
        assert target is not None
        assert (target.row, target.valid) == (15, valid)
        np.testing.assert_array_equal(target.values, _line(15, 1)[0])
    assert buffer.left_ns(17 * STEP) == -STEP


def test_committed_rows_begin_with_the_row_in_execution_and_are_sent_as_they_are() -> None:
    buffer = _started()
    asked = buffer.commit(int(3.4 * STEP), 4)
    assert asked.first_row == 8
    np.testing.assert_array_equal(asked.prefix, _line(3, 5).astype(np.float32))
    assert asked.prefix.dtype == np.float32


@pytest.mark.parametrize(("ahead", "count"), [(0, 1), (7, 8), (20, 8), (-3, 1)])
def test_never_more_rows_are_committed_than_the_policy_takes(ahead: int, count: int) -> None:
    asked = _started().commit(2 * STEP, ahead)
    assert (len(asked.prefix), asked.first_row) == (count, 2 + count)


def test_a_prefix_shorter_than_wanted_holds_only_real_rows() -> None:
    """B09: short prefixes were padded with zeros, the mean pose of the data: a jump at each seam."""
    asked = _started().commit(14 * STEP, 5)
    np.testing.assert_array_equal(asked.prefix, _line(14, 2).astype(np.float32))
    assert asked.first_row == 16


def test_a_chunk_in_time_enters_at_its_first_row_and_the_course_is_exact() -> None:
    buffer = _started()
    asked = buffer.commit(4 * STEP, 3)
    other = _chunk(asked.sequence, asked.first_row, _line(asked.first_row, 8) + 0.5)
    entry = buffer.accept(other, int(6.5 * STEP))
    assert (entry.row, entry.skipped) == (8, 0)
    assert _values(buffer, int(6.5 * STEP)) == pytest.approx(0.065)
    assert _values(buffer, 7 * STEP) == pytest.approx(0.07)
    assert _values(buffer, int(7.5 * STEP)) == pytest.approx((0.07 + 0.58) / 2)
    assert _values(buffer, 8 * STEP) == pytest.approx(0.58)


@pytest.mark.parametrize("rows_late", [1, 2, 5])
def test_a_late_chunk_enters_in_the_middle_and_skips_exactly_the_rows_executed_meanwhile(rows_late: int) -> None:
    """B09: what is skipped is counted in rows really executed."""
    buffer = _started()
    asked = buffer.commit(4 * STEP, 0)
    now = int((4 + rows_late + 0.3) * STEP)
    before = buffer.row_at(now)
    entry = buffer.accept(_answer(asked, 12), now)
    assert entry.skipped == rows_late == before - 4
    assert entry.row == before + 1
    assert buffer.counts["rows_skipped"] == rows_late
    assert buffer.counts["entered_late"] == 1


def test_entering_in_the_middle_changes_over_without_a_step_within_one_row() -> None:
    buffer = _started()
    asked = buffer.commit(4 * STEP, 0)
    now = int(6.5 * STEP)
    before = _values(buffer, now)
    shifted = _chunk(asked.sequence, asked.first_row, _line(asked.first_row, 12) + 0.2)
    buffer.accept(shifted, now)
    assert _values(buffer, now) == pytest.approx(before)
    course = np.array([_values(buffer, now + i * TICK) for i in range(15)])
    assert np.abs(np.diff(course)).max() < 0.06
    assert _values(buffer, now + STEP) == pytest.approx(0.2 + 0.075)


def test_when_rows_run_out_the_grid_stands_still_and_the_late_chunk_skips_none_of_its_new_rows() -> None:
    """B09: starve the queue once: the same rule, skipped rows are the rows executed during that inference."""
    buffer = _started()
    asked = buffer.commit(12 * STEP, 1)
    assert asked.first_row == 14
    now = int(31.7 * STEP)
    assert buffer.row_at(now) == 15
    entry = buffer.accept(_answer(asked, 14), now)
    assert (entry.row, entry.skipped) == (16, 2)
    assert _values(buffer, now) == pytest.approx(0.15)
    assert _values(buffer, now + STEP) == pytest.approx(0.16)
    assert buffer.row_at(now + STEP) == 16
    assert buffer.counts["standstills"] == 1


def test_a_policy_without_prefix_is_asked_for_the_row_in_execution_and_enters_in_the_middle() -> None:
    buffer = _started(max_prefix=0)
    asked = buffer.commit(int(3.2 * STEP), 5)
    assert (asked.first_row, asked.prefix.shape) == (3, (0, 14))
    entry = buffer.accept(_answer(asked, 16), int(5.6 * STEP))
    assert (entry.row, entry.skipped) == (6, 3)
    assert _values(buffer, int(5.6 * STEP)) == pytest.approx(0.056)
    assert _values(buffer, int(9.5 * STEP)) == pytest.approx(0.095)


@pytest.mark.parametrize("latency", [STEP // 3, STEP, 4 * STEP])
def test_chunks_of_one_row_advance_one_row_each(latency: int) -> None:
    buffer, now = _started(horizon=1), 0
    for k in range(1, 20):
        asked = buffer.commit(now, 3)
        assert (asked.first_row, len(asked.prefix)) == (k, 0)
        now += latency
        assert buffer.accept(_answer(asked, 1), now).row == k
        now += STEP
        target = buffer.target(now)
        assert target is not None
        assert (target.row, target.valid) == (k, True)
        assert target.values[0] == pytest.approx(0.01 * k)


def test_what_must_not_be_entered_is_refused_by_name_and_changes_nothing() -> None:
    buffer = _started()
    asked = buffer.commit(2 * STEP, 1)
    good = _answer(asked, 12)
    nan = np.array(good.rows)
    nan[7, 2] = np.nan
    for chunk, refusal in (
        (dataclasses.replace(good, epoch=0), Refusal.EPOCH),
        (dataclasses.replace(good, epoch=2), Refusal.EPOCH),
        (dataclasses.replace(good, sequence=0), Refusal.SEQUENCE),
        (dataclasses.replace(good, sequence=999), Refusal.SEQUENCE),
        (dataclasses.replace(good, first_row=good.first_row + 1), Refusal.FIRST_ROW),
        (dataclasses.replace(good, rows=nan), Refusal.VETO),
    ):
        entry = buffer.accept(chunk, 3 * STEP)
        assert entry.refusal is refusal
        assert buffer.counts[f"refused_{refusal.value}"] >= 1
        assert _values(buffer, 15 * STEP) == pytest.approx(0.15)
        assert buffer.left_ns(3 * STEP) == 13 * STEP
    assert buffer.accept(good, 3 * STEP).refusal is None
    assert buffer.accept(good, 3 * STEP).refusal is Refusal.SEQUENCE


def test_the_veto_names_chunk_row_and_joint() -> None:
    """B23"""
    buffer = _buffer()
    asked = buffer.commit(0, 0)
    rows = _line(0, 30)
    rows[7, 2] = np.inf
    entry = buffer.accept(_chunk(asked.sequence, 0, rows), 10)
    assert entry.refusal is Refusal.VETO
    assert "s/1/0" in entry.detail
    assert "row 7, left_joint3" in entry.detail
    assert buffer.target(10) is None


def test_a_chunk_whose_rows_were_all_executed_is_expired() -> None:
    buffer = _started()
    asked = buffer.commit(2 * STEP, 0)
    entry = buffer.accept(_answer(asked, 4), 8 * STEP)
    assert entry.refusal is Refusal.EXPIRED
    assert _values(buffer, 9 * STEP) == pytest.approx(0.09)


def test_the_last_row_of_a_chunk_is_entered_as_long_as_it_is_not_due() -> None:
    for now, refusal in ((6 * STEP - 1, None), (6 * STEP, Refusal.EXPIRED)):
        buffer = _started()
        asked = buffer.commit(2 * STEP, 0)
        entry = buffer.accept(_answer(asked, 4), now)
        assert entry.refusal is refusal
        assert refusal is None or "rows 3..6, executed or committed up to 6" in entry.detail
        assert buffer.left_ns(now) == (7 if refusal is None else 16) * STEP - now


def test_two_newer_requests_protect_the_rows_of_the_one_further_ahead() -> None:
    buffer = _started()
    old = buffer.commit(2 * STEP, 0)
    buffer.commit(4 * STEP, 3)
    further = buffer.commit(5 * STEP, 5)
    rows = _line(old.first_row, 13) + 0.5
    assert buffer.accept(_chunk(old.sequence, old.first_row, rows), int(5.5 * STEP)).row == further.first_row


def test_one_joint_that_differs_is_enough_to_change_over_softly() -> None:
    buffer = _started()
    asked = buffer.commit(4 * STEP, 0)
    now = int(6.5 * STEP)
    rows = _line(asked.first_row, 12)
    rows[:, 9] += 0.2
    before = buffer.target(now)
    buffer.accept(_chunk(asked.sequence, asked.first_row, rows), now)
    after = buffer.target(now)
    assert before is not None
    assert after is not None
    np.testing.assert_allclose(after.values, before.values, atol=1e-12)


def test_an_older_answer_never_overwrites_rows_that_a_newer_request_committed() -> None:
    buffer = _started()
    old = buffer.commit(2 * STEP, 0)
    new = buffer.commit(4 * STEP, 3)
    late = _chunk(old.sequence, old.first_row, _line(old.first_row, 13) + 0.5)
    assert buffer.accept(late, int(4.5 * STEP)).row == new.first_row
    for k in range(5, 8):
        assert _values(buffer, k * STEP) == pytest.approx(0.01 * k)
    assert buffer.accept(_answer(new, 8), 5 * STEP).row == new.first_row
    assert _values(buffer, 12 * STEP) == pytest.approx(0.12)


def test_a_failed_request_frees_its_rows() -> None:
    buffer = _started()
    first = buffer.commit(2 * STEP, 0)
    failed = buffer.commit(3 * STEP, 6)
    buffer.forget(failed.sequence)
    assert buffer.accept(_answer(first, 13), int(3.5 * STEP)).row == 4
    assert buffer.accept(_answer(failed, 6), 4 * STEP).refusal is Refusal.SEQUENCE


def test_engagement_forgets_rows_and_open_requests_and_counts_rows_from_0_again() -> None:
    buffer = _started()
    open_before = buffer.commit(2 * STEP, 1)
    buffer.engage(2)
    assert buffer.target(3 * STEP) is None
    assert buffer.accept(_answer(open_before, 12, epoch=1), 3 * STEP).refusal is Refusal.EPOCH
    assert buffer.accept(_answer(open_before, 12, epoch=2), 3 * STEP).refusal is Refusal.SEQUENCE
    asked = buffer.commit(4 * STEP, 1)
    assert asked.sequence > open_before.sequence
    assert buffer.accept(_answer(asked, 16, epoch=2), 9 * STEP).row == 0


def test_a_new_epoch_without_a_new_engagement_keeps_the_rows_but_not_the_open_requests() -> None:
    buffer = _started()
    asked = buffer.commit(2 * STEP, 1)
    buffer.continue_as(2)
    assert _values(buffer, 5 * STEP) == pytest.approx(0.05)
    assert buffer.accept(_answer(asked, 12, epoch=1), 3 * STEP).refusal is Refusal.EPOCH
    assert buffer.accept(_answer(buffer.commit(3 * STEP, 1), 12, epoch=2), 4 * STEP).refusal is None


_steps = st.lists(
    st.tuples(
        st.integers(1, 40),  # ticks to wait
        st.sampled_from(["ask", "answer", "answer", "answer_old", "fail", "nothing"]),
        st.integers(0, 12),  # rows ahead
        st.integers(1, 16),  # rows of the answer
    ),
    min_size=1,
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(steps=_steps, max_prefix=st.integers(0, 8))
def test_on_any_course_of_requests_and_answers_rows_rise_one_by_one_and_committed_rows_run_as_sent(
    steps: list[tuple[int, str, int, int]], max_prefix: int
) -> None:
    """Every chunk draws the same line, so the target must be on it wherever it comes from; no step, no row twice."""
    buffer = _started(max_prefix=max_prefix)
    open_requests: list[Commitment] = []
    now, row, value = 0, 0, 0.0
    for wait, what, ahead, count in steps:
        for _ in range(wait):
            now += TICK
            target = buffer.target(now)
            assert target is not None
            assert row <= target.row <= row + 1
            assert target.values[0] == pytest.approx(0.01 * (target.row + target.fraction), abs=1e-6)
            assert -1e-9 <= target.values[0] - value <= 0.01 * TICK / STEP + 1e-7
            row, value = target.row, float(target.values[0])
        if what == "ask":
            asked = buffer.commit(now, ahead)
            first = asked.first_row - len(asked.prefix)
            np.testing.assert_allclose(asked.prefix, _line(first, len(asked.prefix)), atol=1e-6)
            assert len(asked.prefix) <= max_prefix
            open_requests.append(asked)
        elif what == "fail" and open_requests:
            buffer.forget(open_requests.pop().sequence)
        elif what in ("answer", "answer_old") and open_requests:
            asked = open_requests.pop(0 if what == "answer_old" else -1)
            executed = buffer.row_at(now)
            entry = buffer.accept(_chunk(asked.sequence, asked.first_row, _line(asked.first_row, count)), now)
            if entry.refusal is None:
                assert entry.row > executed
                assert entry.row == asked.first_row + entry.skipped
            assert buffer.row_at(now) == executed


@settings(max_examples=60, deadline=None)
@given(
    offsets=st.lists(st.floats(-1, 1), min_size=2, max_size=8),
    gaps=st.lists(st.integers(1, 30), min_size=8, max_size=8),
)
def test_whatever_late_chunks_say_the_target_itself_never_steps(offsets: list[float], gaps: list[int]) -> None:
    """Chunks that contradict each other by up to 2 rad, all late: no tick exceeds the fade's speed."""
    buffer, now, last = _started(), 0, 0.0
    for offset, gap in zip(offsets, gaps, strict=False):
        asked = buffer.commit(now, 0)
        for _ in range(gap):
            now += TICK
            value = _values(buffer, now)
            assert abs(value - last) < 0.75
            last = value
        rows = _line(asked.first_row, 16) + offset
        before = _values(buffer, now)
        if buffer.accept(_chunk(asked.sequence, asked.first_row, rows), now).refusal is None:
            assert _values(buffer, now) == pytest.approx(before, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    offsets=st.lists(st.floats(-1, 1), min_size=2, max_size=8),
    gaps=st.lists(st.integers(1, 30), min_size=8, max_size=8),
    max_prefix=st.sampled_from([0, 1, 8]),
    horizon=st.sampled_from([1, 2, 16]),
)
def test_seams_are_continuous_to_one_normal_step_with_a_prefix_and_without(
    offsets: list[float], gaps: list[int], max_prefix: int, horizon: int
) -> None:
    """Plans that contradict each other by up to 2 rad: in a tick the target moves by what its rows say and at most one
    normal step more. A policy without prefix is blended the same way, and so are chunks of one row."""
    limits = limits_of(load_station("twin").safety, TICK / 1e9)
    buffer = ChunkBuffer(STEP, horizon, max_prefix, Seam(limits))
    buffer.engage(1)
    assert buffer.accept(_answer(buffer.commit(0, 0), horizon), 0).refusal is None
    normal = limits.speed * limits.period_s
    now, last = 0, _target(buffer, 0)
    for offset, gap in zip(offsets, gaps, strict=False):
        asked = buffer.commit(now, 0)
        for _ in range(gap):
            now += TICK
            value = _target(buffer, now)
            assert (np.abs(value - last) <= 2.0 * normal + 0.01 * TICK / STEP + 1e-9).all()
            last = value
        chunk = _chunk(asked.sequence, asked.first_row, _line(asked.first_row, horizon) + offset)
        if buffer.accept(chunk, now).refusal is None:
            np.testing.assert_allclose(_target(buffer, now), last, atol=1e-9)


def _target(buffer: ChunkBuffer, now_ns: int) -> NDArray:
    target = buffer.target(now_ns)
    assert target is not None
    return target.values


@pytest.mark.parametrize("seam", [None, Seam(limits_of(load_station("twin").safety, 0.01))])
@pytest.mark.parametrize("lead_ns", [0, 60_000_000, 130_000_000])
def test_where_targets_are_told_ahead_the_course_does_not_jump_there(seam: Seam | None, lead_ns: int) -> None:
    """The change to a new plan began to fade at the moment of the grid, but was read ahead of it: the first target
    after an answer jumped by what had faded by then."""
    buffer = ChunkBuffer(STEP, 16, 8, seam)
    buffer.engage(1)
    buffer.accept(_answer(buffer.commit(0, 0), 16), 0, lead_ns)
    asked, late = buffer.commit(2 * STEP, 1), int(4.7 * STEP)
    before = _values(buffer, late + lead_ns)
    shifted = _chunk(asked.sequence, asked.first_row, _line(asked.first_row, 16) + 0.05)
    entry = buffer.accept(shifted, late, lead_ns)
    assert _values(buffer, late + lead_ns) == pytest.approx(before, abs=1e-12)
    assert abs(_values(buffer, late + lead_ns + TICK) - before) < 0.0075
    # A row that has been told in part already is not given other values.
    assert entry.row == buffer.row_at(late + lead_ns) + 1
    assert _values(buffer, late + lead_ns + 12 * STEP) > before + 0.05
