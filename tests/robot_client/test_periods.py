"""The grid of deadlines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from robot_client.pacer import Periods


@given(
    gaps_ns=st.lists(st.integers(0, 300), min_size=1, max_size=60),
    period_ns=st.integers(1, 50),
    most=st.integers(1, 20),
)
def test_done_and_skipped_periods_are_exactly_the_ones_that_passed(
    gaps_ns: list[int], period_ns: int, most: int
) -> None:
    periods, now_ns, done = Periods(1000, period_ns, most), 1000, 0
    for gap_ns in gaps_ns:
        now_ns += gap_ns
        doing = periods.due(now_ns)
        assert 0 <= doing <= most
        done += doing
        assert done + periods.skipped == (now_ns - 1000) // period_ns
        assert now_ns < periods.next_ns <= now_ns + period_ns


def test_a_clock_before_the_start_gives_nothing_to_do() -> None:
    periods = Periods(1000, 10, 5)
    assert periods.due(10) == 0
    assert periods.skipped == 0
