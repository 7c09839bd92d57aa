"""Angles as what they are: modular (B27)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.errors import FieldError
from contract.station import load_station
from contract.teleop import LeaderCalibration
from robot_client.teleop.calibrated import RELATCH_NS, CalibratedArm
from robot_client.teleop.turns import TURN_RAD, Continuous, nearest_turn, shortest, sweep_range

STATION = load_station("twin")
LIMITS = STATION.safety.left
_angle = st.floats(-20.0, 20.0)


def _arm(**calibration: object) -> CalibratedArm:
    return CalibratedArm(LeaderCalibration(**calibration), LIMITS)  # type: ignore[arg-type]


@given(share=st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6), turns=st.sampled_from([-2, -1, 0, 1, 2]))
def test_a_pose_within_the_limits_reads_the_same_in_whatever_turn_the_encoders_came_up(
    share: list[float], turns: int
) -> None:
    """B27: powered on in another pose, the reading was off by a full turn."""
    lower, upper = np.array(LIMITS.lower_rad), np.array(LIMITS.upper_rad)
    pose = lower + np.array(share) * (upper - lower)
    signs, offsets = (1, -1, 1, -1, 1, -1), (0.3, -1.0, 2.0, 0.0, 3.1, -3.1)
    arm = _arm(signs=signs, offsets_rad=offsets)
    raw = np.array(signs) * (pose - np.array(offsets)) + turns * TURN_RAD
    values = arm.values(raw, 0.0, 0)
    assert values is not None
    np.testing.assert_allclose(values[:6], pose, atol=1e-9)


def test_a_stream_across_the_seam_makes_no_step() -> None:
    """B27: error 6.283 between 3.142 and -3.141."""
    course = Continuous(np.zeros(1), RELATCH_NS)
    seen = [course.take(np.array([q]), n * 10_000_000) for n, q in enumerate((3.10, 3.14, -3.14, -3.10))]
    assert all(value is not None for value in seen)
    assert np.abs(np.diff(np.concatenate(seen))).max() <= 0.05


@given(start=_angle, end=_angle)
def test_the_way_of_a_joint_that_turns_for_ever_is_never_more_than_half_a_turn_and_arrives(
    start: float, end: float
) -> None:
    """B27: interpolation over the pair (3.13, -3.13)."""
    way = float(shortest(start, end))
    assert abs(way) <= np.pi + 1e-9
    assert np.cos(start + way - end) == pytest.approx(1.0)
    assert float(shortest(3.13, -3.13)) == pytest.approx(TURN_RAD - 6.26)


@given(angle=_angle, turns=st.integers(-3, 3))
def test_turns_make_no_difference(angle: float, turns: int) -> None:
    """B27"""
    assert float(nearest_turn(angle + turns * TURN_RAD, 0.2)) == pytest.approx(
        float(nearest_turn(angle, 0.2)), abs=1e-9
    )


@given(glitch=st.floats(0.6, 2 * np.pi - 0.6), joint=st.integers(0, 5))
def test_one_glitch_is_left_out_and_the_next_reading_counts(glitch: float, joint: int) -> None:
    """B27: a one-sample glitch; one of exactly a turn is the same reading."""
    arm = _arm()
    pose = np.array([0.1, 0.5, 0.5, 0.0, 0.0, 0.0])
    assert arm.values(pose, 0.0, 0) is not None
    bad = pose.copy()
    bad[joint] += glitch
    assert arm.values(bad, 0.0, 10) is None
    assert arm.glitches == 1
    after = arm.values(pose + 0.01, 0.0, 20)
    assert after is not None
    np.testing.assert_allclose(after[:6], pose + 0.01)
    turned = arm.values(pose + TURN_RAD, 0.0, 30)
    assert turned is not None
    np.testing.assert_allclose(turned[:6], pose, atol=1e-9)


def test_a_leader_that_is_somewhere_else_after_a_long_pause_is_believed_again() -> None:
    """Longer than any station lets it be silent, so nothing follows it by then."""
    arm = _arm()
    assert arm.values(np.full(6, 0.2), 0.0, 0) is not None
    far = np.full(6, 1.4)
    assert arm.values(far, 0.0, RELATCH_NS) is None
    values = arm.values(far, 0.0, RELATCH_NS + 1)
    assert values is not None
    np.testing.assert_allclose(values[:6], far)


@settings(deadline=None)
@given(low=st.floats(-6.0, 3.0), span=st.floats(0.2, 6.0), count=st.integers(60, 200))
def test_a_sweep_across_the_seam_has_the_right_range(low: float, span: float, count: int) -> None:
    """B27: the sweep was recorded as almost 0..4095, or clipped on one side, silently."""
    course = low + span * np.concatenate([np.linspace(0, 1, count), np.linspace(1, 0, count)])
    raw = (course + np.pi) % TURN_RAD - np.pi
    found_low, found_high = sweep_range(raw)
    assert found_high - found_low == pytest.approx(span, abs=1e-6)
    assert np.cos(found_low - low) == pytest.approx(1.0)


@pytest.mark.parametrize("samples", [[0.0, 2.0, 0.0], [0.1], [0.0, float("nan")], list(np.linspace(0, 7, 100))])
def test_a_sweep_that_cannot_be_told_is_refused_with_what_to_do(samples: list[float]) -> None:
    """B27: or refused with instruction."""
    with pytest.raises(FieldError, match=r"move|stops"):
        sweep_range(samples)


def test_the_trigger_is_an_opening_whichever_way_it_reads() -> None:
    """i2rt's handle says 1 when it is pressed, which closes."""
    for limits, pairs in (((1.0, 0.0), {1.0: 0.0, 0.0: 1.0, 1.3: 0.0}), ((0.1, 0.9), {0.1: 0.0, 0.5: 0.5, 0.9: 1.0})):
        for raw, opening in pairs.items():
            values = _arm(gripper_closed_open=limits).values(np.full(6, 0.2), raw, 0)
            assert values is not None
            assert values[6] == pytest.approx(opening)
