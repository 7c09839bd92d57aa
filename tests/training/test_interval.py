"""Wilson's interval against published values, and its properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.evaluate.interval import wilson


def test_wilson_agrees_with_published_values() -> None:
    """81 of 263: Newcombe (1998), table I, method 3."""
    rate = wilson(81, 263)
    assert (round(rate.low, 4), round(rate.high, 4)) == (0.2553, 0.3662)
    assert wilson(0, 20).low == 0.0
    assert wilson(0, 20).high == pytest.approx(0.1611, abs=1e-4)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_rate_and_mirrors_failures(counts: tuple[int, int]) -> None:
    successes, trials = counts
    rate, mirror = wilson(successes, trials), wilson(trials - successes, trials)
    assert 0.0 <= rate.low <= rate.value <= rate.high <= 1.0
    assert rate.low == pytest.approx(1 - mirror.high)
