"""Temporal Ratio from masses: our definition in PAPER.md, as properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from contract.errors import EngineError
from contract.manifest import TrCalibration
from policy_server.temporal_ratio import CURRENT, FUTURE, rank_of, temporal_ratio

ROWS = 6
SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.just(ROWS), st.just(2))
MASSES = SHAPES.flatmap(lambda shape: arrays(np.float32, shape, elements=st.floats(2**-6, 1.0, width=32)))
PREFIX = st.integers(0, ROWS - 1)
VALUES = st.lists(st.floats(0.0, 10.0), min_size=2, max_size=20).map(sorted)


def calibration(quantiles: list[float]) -> TrCalibration:
    return TrCalibration(quantiles=tuple(quantiles), replans=10, sigma=0.5, horizon=ROWS, engine_id="e", source="test")


@given(MASSES, PREFIX)
def test_tr_is_the_ratio_of_two_sums_over_free_rows(masses, prefix):
    reading = temporal_ratio(masses, prefix, 4, 12, None)
    current = sum(float(x) for x in masses[:, :, :, prefix:, CURRENT].ravel())
    future = sum(float(x) for x in masses[:, :, :, prefix:, FUTURE].ravel())
    assert reading.value == pytest.approx(future / current, rel=1e-6)
    assert reading.density == pytest.approx(reading.value * 4 / 12)
    assert reading.masses is masses


@given(MASSES, PREFIX, st.floats(0.0, 1.0, width=32))
def test_attention_of_given_prefix_rows_does_not_move_tr(masses, prefix, other):
    changed = masses.copy()
    changed[:, :, :, :prefix] = other
    assert temporal_ratio(changed, prefix, 4, 4, None).value == temporal_ratio(masses, prefix, 4, 4, None).value


@given(MASSES, PREFIX, st.randoms(use_true_random=False))
def test_tr_does_not_depend_on_the_order_of_steps_layers_heads_or_free_rows(masses, prefix, random):
    shuffled = masses
    for axis in (0, 1, 2):
        shuffled = np.take(shuffled, random.sample(range(masses.shape[axis]), masses.shape[axis]), axis)
    free = random.sample(range(prefix, ROWS), ROWS - prefix)
    shuffled = np.take(shuffled, [*range(prefix), *free], 3)
    assert temporal_ratio(shuffled, prefix, 1, 1, None).value == pytest.approx(
        temporal_ratio(masses, prefix, 1, 1, None).value, rel=1e-9
    )


@given(MASSES)
def test_a_step_with_more_attention_weighs_more_so_it_is_no_mean_of_ratios(masses):
    uneven = np.concatenate([masses, 3.0 * masses[:1, :, :, :, ::-1]])
    current, future = uneven[..., CURRENT].sum(dtype=float), uneven[..., FUTURE].sum(dtype=float)
    assert temporal_ratio(uneven, 0, 1, 1, None).value == pytest.approx(future / current, rel=1e-6)


@given(VALUES, st.floats(-1.0, 11.0), st.floats(-1.0, 11.0))
def test_rank_rises_with_tr_and_stays_in_zero_to_one(quantiles, a, b):
    table = calibration(quantiles)
    low, high = sorted((a, b))
    assert 0.0 <= rank_of(low, table) <= rank_of(high, table) <= 1.0


@given(st.integers(2, 30))
def test_each_stored_quantile_has_its_own_rank(count):
    quantiles = [0.1 + 0.3 * i * i for i in range(count)]
    ranks = [rank_of(q, calibration(quantiles)) for q in quantiles]
    assert ranks == pytest.approx([i / (count - 1) for i in range(count)])


def test_uncalibrated_has_no_rank():
    assert np.isnan(rank_of(0.5, None))


@pytest.mark.parametrize(("current", "future"), [(0.0, 0.5), (np.nan, 0.5), (0.5, np.nan), (0.5, np.inf), (-1.0, 0.5)])
def test_masses_that_make_no_ratio_are_refused(current, future):
    masses = np.ones((1, 1, 1, ROWS, 2), np.float32) * np.array([current, future], np.float32)
    with pytest.raises(EngineError, match="temporal ratio"):
        temporal_ratio(masses, 0, 1, 1, None)
