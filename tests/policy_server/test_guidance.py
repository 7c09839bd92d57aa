"""Guidance scales and the sum of velocities, as properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from contract.errors import ConfigurationError
from contract.manifest import Guidance
from contract.types import GUIDANCE_MODES, GuidanceScales
from policy_server.guidance import ZERO, combine, scales_of, smoothstep, wanted

NULLS = ("language", "future")
SETTINGS = Guidance(w_lang_max=2.0, w_plan_max=0.5, q_lo=0.3, q_hi=0.9, trained_nulls=NULLS)
RANKS = st.floats(0.0, 1.0)
VELOCITY = arrays(np.float32, (4, 14), elements=st.floats(-10, 10, width=32))


@given(st.floats(-2.0, 3.0), st.floats(-2.0, 3.0))
def test_smoothstep_rises_from_zero_to_one(a, b):
    low, high = sorted((a, b))
    assert 0.0 <= smoothstep(low) <= smoothstep(high) <= 1.0
    assert smoothstep(0.5) == 0.5 and smoothstep(0.0) == 0.0 and smoothstep(1.0) == 1.0


@given(RANKS, RANKS)
def test_adaptive_scales_rise_with_rank_up_to_their_maximum(a, b):
    low, high = (scales_of("adaptive", rank, SETTINGS) for rank in sorted((a, b)))
    assert 0.0 <= low.lang <= high.lang <= SETTINGS.w_lang_max
    assert 0.0 <= low.plan <= high.plan <= SETTINGS.w_plan_max


@given(RANKS)
def test_inverted_is_the_maximum_minus_adaptive(rank):
    adaptive, inverted = scales_of("adaptive", rank, SETTINGS), scales_of("inverted", rank, SETTINGS)
    assert adaptive.lang + inverted.lang == pytest.approx(SETTINGS.w_lang_max)
    assert adaptive.plan + inverted.plan == pytest.approx(SETTINGS.w_plan_max)


@given(RANKS)
def test_constant_and_off_do_not_look_at_tr(rank):
    assert scales_of("off", rank, SETTINGS) == ZERO
    assert scales_of("constant", rank, SETTINGS) == GuidanceScales(2.0, 0.5)


def test_formula_at_known_ranks():
    assert scales_of("adaptive", 0.3, SETTINGS) == ZERO
    assert scales_of("adaptive", 0.6, SETTINGS).lang == pytest.approx(1.0)
    assert scales_of("adaptive", 0.45, SETTINGS).plan == pytest.approx(0.5 * (3 * 0.0625 - 2 * 0.015625))
    assert scales_of("adaptive", 0.9, SETTINGS) == GuidanceScales(2.0, 0.5)


@pytest.mark.parametrize("mode", ["adaptive", "inverted"])
def test_uncalibrated_guides_nothing_that_depends_on_tr(mode):
    assert scales_of(mode, float("nan"), SETTINGS) == ZERO


@pytest.mark.parametrize("mode", [mode for mode in GUIDANCE_MODES if mode != "off"])
@pytest.mark.parametrize("null", NULLS)
def test_a_scale_whose_null_was_never_trained_is_refused_by_name(mode, null):
    settings = SETTINGS.model_copy(update={"trained_nulls": tuple(n for n in NULLS if n != null)})
    with pytest.raises(ConfigurationError, match=f"guidance scale on {null}"):
        scales_of(mode, 0.6, settings)


@given(VELOCITY, VELOCITY, VELOCITY, st.floats(0, 5), st.floats(0, 5))
def test_velocities_add_up_as_the_formula_says(full, nolang, noplan, lang, plan):
    total = combine({"full": full, "nolang": nolang, "noplan": noplan}, GuidanceScales(lang, plan))
    expected = full + lang * (full.astype(float) - nolang) + plan * (full.astype(float) - noplan)
    np.testing.assert_allclose(total, expected, atol=1e-4)
    assert total.dtype == np.float32


@given(VELOCITY, VELOCITY)
def test_with_scales_zero_the_velocity_is_the_conditional_one_itself(full, other):
    assert combine({"full": full, "nolang": other, "noplan": other}, ZERO) is full


@given(VELOCITY, st.floats(0.1, 5), st.floats(0.1, 5))
def test_a_branch_that_did_not_run_adds_nothing(full, lang, plan):
    assert combine({"full": full}, GuidanceScales(lang, plan)) is full


@given(st.floats(0, 3), st.floats(0, 3))
def test_only_branches_above_zero_are_wanted(lang, plan):
    assert wanted(GuidanceScales(lang, plan)) == ("nolang",) * (lang > 0) + ("noplan",) * (plan > 0)
