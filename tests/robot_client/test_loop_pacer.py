"""Absolute deadlines on a fixed grid."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from robot_client.clock import FakeClock
from robot_client.pacer import Pacer

PERIOD = 10_000_000


@given(work=st.lists(st.integers(0, 5 * PERIOD), min_size=1, max_size=50), oversleep=st.integers(0, PERIOD - 1))
def test_deadlines_stay_on_the_grid_and_every_missed_period_is_counted_once(work: list[int], oversleep: int) -> None:
    clock = FakeClock(123)
    clock.oversleep_ns = oversleep
    pacer = Pacer(clock, PERIOD)
    pacer.start()
    last = 123
    for busy in work:
        beat = pacer.wait()
        assert (beat.deadline_ns - 123) % PERIOD == 0
        assert beat.deadline_ns == last + (beat.skipped + 1) * PERIOD
        assert 0 <= beat.lateness_ns < PERIOD
        assert clock.now_ns() == beat.deadline_ns + beat.lateness_ns
        last = beat.deadline_ns
        clock.advance(busy)


def test_a_stall_is_skipped_and_not_caught_up() -> None:
    clock = FakeClock()
    pacer = Pacer(clock, PERIOD)
    pacer.start()
    pacer.wait()
    clock.advance(30 * PERIOD + 5)
    late = pacer.wait()
    assert (late.skipped, late.lateness_ns) == (29, 5)
    assert pacer.wait().skipped == 0
    assert clock.now_ns() == 32 * PERIOD
