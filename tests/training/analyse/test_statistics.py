"""The statistics of the results page against answers that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.analyse.outcomes import Tried
from training.analyse.paired import success_difference
from training.analyse.phase_effect import cohens_d, mean_over, standardised_difference
from training.analyse.rank_correlation import spearman
from training.analyse.resampling import bootstrap, cluster_weights


def tried(seed: int, success: bool, head: int = 0, **more) -> Tried:
    facts = {"ratios": (), "phases": (), "replan_ms": (), "mask_effect": (), "swap_effect": (), "misplaced": None}
    pair = {"split": "id", "object": "red cube", "receptacle": "box"}
    return Tried(head_seed=head, seed=seed, success=success, **{**facts, **pair, **more})


def test_the_interval_of_a_mean_of_independent_clusters_is_that_of_the_normal_law() -> None:
    values = np.random.default_rng(3).normal(2.0, 1.0, 400)
    found = bootstrap({(0, i): (float(v), 1.0) for i, v in enumerate(values)}, lambda t: t[..., 0] / t[..., 1], 400)
    half = 1.96 * values.std() / math.sqrt(400)
    assert found.value == pytest.approx(values.mean())
    assert found.high - found.value == pytest.approx(half, rel=0.1)
    assert found.value - found.low == pytest.approx(half, rel=0.1)


def test_trials_that_share_a_layout_do_not_narrow_the_interval() -> None:
    """Ten copies of each cluster's outcome carry no more than the cluster: the same interval as of one copy each."""
    outcomes = [i % 3 == 0 for i in range(60)]
    once = {(0, i): (float(won), 1.0) for i, won in enumerate(outcomes)}
    tenfold = {(0, i): (10.0 * won, 10.0) for i, won in enumerate(outcomes)}
    first, second = (bootstrap(sums, lambda t: t[..., 0] / t[..., 1], 60) for sums in (once, tenfold))
    assert (first.low, first.high) == (second.low, second.high)
    assert first.high - first.low > 0.2


def test_training_seeds_that_differ_widen_the_interval() -> None:
    same = {(head, i): (float(i % 2), 1.0) for head in range(3) for i in range(20)}
    apart = {(head, i): (float(head == 0 or i % 2), 1.0) for head in range(3) for i in range(20)}
    first, second = (bootstrap(sums, lambda t: t[..., 0] / t[..., 1], 60) for sums in (same, apart))
    assert second.high - second.low > 1.5 * (first.high - first.low)


def test_every_resample_draws_as_many_layouts_as_there_are() -> None:
    weights = cluster_weights([0, 0, 0, 1, 1, 1], np.random.default_rng(0), resamples=50)
    assert (weights.sum(1) == 6).all()
    assert set(weights[:, :3].sum(1)) <= {0.0, 3.0, 6.0}
    assert len(set(weights[:, :3].sum(1))) > 1


def test_a_method_that_always_wins_where_the_other_loses_is_better_by_one_for_certain() -> None:
    found = success_difference([tried(i, True) for i in range(8)], [tried(i, False) for i in range(8)])
    assert found is not None
    assert (found.value, found.low, found.high, found.count) == (1.0, 1.0, 1.0, 8)


def test_a_difference_counts_only_what_both_tried() -> None:
    method = [tried(0, True), tried(1, True), tried(2, False), tried(9, False)]
    reference = [tried(0, True), tried(1, False), tried(2, False), tried(8, True)]
    found = success_difference(method, reference)
    assert found is not None and found.count == 3
    assert found.value == pytest.approx(1 / 3)
    assert success_difference(method, [tried(0, True, head=5)]) is None


def test_pairing_makes_a_constant_gain_sharper_than_two_rates_would() -> None:
    rng = np.random.default_rng(1)
    hard = rng.random(200) < 0.5
    reference = [tried(i, bool(won)) for i, won in enumerate(hard)]
    method = [tried(i, bool(won) or i % 10 == 0) for i, won in enumerate(hard)]
    found = success_difference(method, reference)
    assert found is not None and found.low > 0.0
    assert found.high - found.low < 2 * 1.96 * math.sqrt(2 * 0.25 / 200)


def test_cohens_d_of_a_worked_example() -> None:
    """Planning 1, 3; contact 0, 2: means 2 and 1, pooled variance 2, d = 1 / sqrt 2."""
    assert cohens_d(np.array([2, 4, 10, 2, 2, 4], float)) == pytest.approx(1 / math.sqrt(2))


def test_the_phase_effect_is_planning_minus_contact_and_leaves_the_way_home_out() -> None:
    phases = ("approach", "transport", "grasp", "place", "retreat")
    part = [tried(i, True, phases=phases, ratios=(1.0 + i, 3.0, 0.0, 2.0 - i, 99.0)) for i in range(2)]
    found = standardised_difference(part)
    planning, contact = [1.0, 3.0, 2.0, 3.0], [0.0, 2.0, 0.0, 1.0]
    pooled = math.sqrt((np.var(planning, ddof=1) + np.var(contact, ddof=1)) / 2)
    assert found is not None and found.count == 8
    assert found.value == pytest.approx((np.mean(planning) - np.mean(contact)) / pooled)
    mean = mean_over(part, "ratios", ("retreat",))
    assert mean is not None and mean.value == 99.0 and mean.count == 2


def test_readings_that_were_not_noted_give_nothing() -> None:
    part = [tried(0, True, phases=("approach", "grasp"), ratios=(0.1, 0.2))]
    assert standardised_difference(part) is None
    assert mean_over(part, "mask_effect", ("approach",)) is None


def test_spearman_is_that_of_scipy_and_its_interval_that_of_the_formula() -> None:
    from scipy.stats import spearmanr

    x, y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], [2.0, 1.0, 4.0, 3.0, 7.0, 5.0, 6.0, 9.0, 8.0]
    found = spearman(x, y)
    assert found is not None
    assert found.value == pytest.approx(spearmanr(x, y).statistic) == pytest.approx(0.9)
    half = 1.959964 * math.sqrt((1 + 0.9**2 / 2) / 6)
    assert found.low == pytest.approx(math.tanh(math.atanh(0.9) - half))
    assert found.high == pytest.approx(math.tanh(math.atanh(0.9) + half))


def test_a_perfect_order_of_few_points_is_not_called_certain() -> None:
    found = spearman([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    assert found is not None and found.value == pytest.approx(1.0)
    assert found.low < 0.5


def test_too_few_or_equal_points_have_no_correlation() -> None:
    assert spearman([1, 2, 3], [1, 2, 3]) is None
    assert spearman([1, 1, 1, 1], [1, 2, 3, 4]) is None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_swapping_the_methods_turns_the_sign_of_the_difference(pairs: list[tuple[bool, bool]]) -> None:
    one = [tried(i, first) for i, (first, _) in enumerate(pairs)]
    other = [tried(i, second) for i, (_, second) in enumerate(pairs)]
    there, back = success_difference(one, other), success_difference(other, one)
    assert there is not None and back is not None
    assert there.value == -back.value
    assert there.low <= there.value <= there.high
