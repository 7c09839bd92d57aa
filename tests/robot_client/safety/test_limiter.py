"""Whatever is asked, told stays within speed, acceleration, braking distance and position limits."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from contract.layout import CHANNELS, JOINT_MASK, index
from contract.station import load_station
from robot_client.safety.limiter import at_rest, brake, limit
from robot_client.safety.limits import Clip, Limits, Told, limits_of, seeded
from robot_client.safety.space import FREE

PERIOD_S = 0.01
# Per channel; the tool and the distances have tests of their own.
LIMITS = replace(limits_of(load_station("twin").safety, PERIOD_S), tool_speed_m_s=float("inf"), space=FREE)
HOME = load_station("twin").poses.home.vector()
FAR = dataclasses.replace(LIMITS, lead=np.full(14, 1e9))
"""Lead out of the way, where the measured position plays no part."""
EPS = 1e-9


def _assert_lawful(before: Told, after: Told, limits: Limits) -> None:
    step = limits.acceleration * limits.period_s
    assert (np.abs(after.position - before.position) <= limits.speed * limits.period_s + EPS).all()
    assert (np.abs(after.velocity) <= limits.speed + EPS).all()
    assert (np.abs(after.velocity - before.velocity) <= step + EPS).all()
    assert (after.position <= np.maximum(limits.upper, before.position)).all()
    assert (after.position >= np.minimum(limits.lower, before.position)).all()
    inside = (after.position <= limits.upper) & (after.position >= limits.lower)
    ahead = np.where(after.velocity > 0, limits.upper - after.position, after.position - limits.lower)
    assert (after.velocity**2 <= 2 * limits.acceleration * np.maximum(ahead, 0) + EPS)[inside].all()


_vectors = arrays(np.float64, 14, elements=st.floats(-100, 100, allow_nan=False))


@settings(max_examples=60, deadline=None)
@given(asked=st.lists(_vectors, min_size=1, max_size=30), brakes=st.sets(st.integers(0, 29)))
def test_no_sequence_of_asked_targets_breaks_a_limit(asked: list[NDArray], brakes: set[int]) -> None:
    told = seeded(HOME)
    for i, target in enumerate(asked):
        verdict = brake(told, FAR) if i in brakes else limit(told, target, told.position, FAR)
        _assert_lawful(told, verdict.told, FAR)
        assert not (verdict.clips & Clip.EMPTY).any(), "speed, braking and acceleration never contradict each other"
        told = verdict.told


def test_two_hundred_thousand_random_steps_break_no_limit() -> None:
    """600 pairs of arms, 400 steps each: wild jumps, smooth walks, pushes at limits, a straying measured pose."""
    random = np.random.default_rng(7)
    told = seeded(random.uniform(LIMITS.lower, LIMITS.upper, (600, 14)))
    asked, measured = told.position.copy(), told.position.copy()
    moved = 0.0
    for step in range(400):
        wild = random.random((600, 14)) < 0.1
        asked = np.where(wild, random.uniform(-6, 6, asked.shape), asked + random.normal(0, 0.02, asked.shape))
        measured = told.position + random.normal(0, 0.2, asked.shape)
        verdict = brake(told, LIMITS) if step % 97 == 96 else limit(told, asked, measured, LIMITS)
        _assert_lawful(told, verdict.told, LIMITS)
        moved += float(np.abs(verdict.told.position - told.position).sum())
        told = verdict.told
    assert moved > 1000


def test_the_lead_over_measured_is_never_exceeded_unless_counted_as_a_contradiction() -> None:
    random = np.random.default_rng(8)
    told = seeded(random.uniform(LIMITS.lower, LIMITS.upper, (300, 14)))
    measured = told.position.copy()
    for _ in range(300):
        measured = measured + random.normal(0, 0.003, measured.shape)
        asked = random.uniform(LIMITS.lower, LIMITS.upper, measured.shape)
        verdict = limit(told, asked, measured, LIMITS)
        beyond = np.abs(verdict.told.position - measured) > LIMITS.lead + 1e-7
        assert not (beyond & ((verdict.clips & Clip.EMPTY) == 0)).any()
        told = verdict.told
    assert ((verdict.clips & Clip.LEAD) > 0).any()


def test_a_smooth_target_within_the_limits_is_told_exactly_as_asked_and_nothing_is_counted() -> None:
    told, furthest = seeded(HOME), 0.0
    for tick in range(1, 300):
        asked = HOME + 0.3 * np.sin(tick * PERIOD_S) * JOINT_MASK * (1 - np.cos(tick * PERIOD_S))
        verdict = limit(told, asked, told.position, LIMITS)
        np.testing.assert_allclose(verdict.told.position, asked, atol=1e-9)
        assert not verdict.clips.any()
        told, furthest = verdict.told, max(furthest, np.abs(verdict.told.position - HOME).max())
    assert furthest > 0.3


def test_a_jump_is_reached_without_running_past_it_and_counted_with_its_reasons() -> None:
    told, asked = seeded(HOME), HOME + 0.3
    asked = np.clip(asked, LIMITS.lower, LIMITS.upper)
    seen: set[Clip] = set()
    for _ in range(200):
        verdict = limit(told, asked, told.position, FAR)
        assert (verdict.told.position <= asked + EPS).all()
        seen |= {reason for reason in Clip if (verdict.clips & reason).any()}
        told = verdict.told
    np.testing.assert_allclose(told.position, asked, atol=1e-12)
    assert seen == {Clip.SPEED, Clip.ACCELERATION, Clip.BRAKING}
    assert not verdict.clips.any()


def test_the_reasons_are_exactly_the_limits_that_going_straight_would_have_broken() -> None:
    start = np.clip(HOME, LIMITS.lower + 1.0, LIMITS.upper - 1.0)
    at = index("left_joint1")
    for velocity, jump, reasons in (
        (0.0, 0.002, Clip.ACCELERATION),
        (1.0, 0.02, Clip.SPEED | Clip.ACCELERATION),
        (1.45, 0.0151, Clip.SPEED),
        (1.0, -0.002, Clip.ACCELERATION),
        (0.0, 0.0, Clip(0)),
    ):
        told = Told(start, np.eye(14)[at] * velocity, start)
        asked = start + np.eye(14)[at] * jump
        clips = limit(told, asked, start, FAR).clips
        assert Clip(int(clips[at])) == reasons
        assert not clips[np.arange(14) != at].any()


def test_braking_to_arrive_counts_as_acceleration_also_where_going_straight_would_break_no_limit() -> None:
    start = np.clip(HOME, LIMITS.lower + 1.0, LIMITS.upper - 1.0)
    at = np.eye(14)[index("left_joint1")]
    asked = start + 0.0098 * at
    verdict = limit(Told(start, 1.0 * at, asked), asked, start, FAR)
    # 0.98 rad/s would lead there within the acceleration of 1.0 +- 0.08; the standing target asks for less.
    np.testing.assert_allclose(verdict.told.velocity, 0.92 * at, atol=1e-12)
    np.testing.assert_array_equal(verdict.clips, at * int(Clip.ACCELERATION))


def test_the_lead_is_a_reason_of_its_own() -> None:
    start = np.clip(HOME, LIMITS.lower + 1.0, LIMITS.upper - 1.0)
    at = index("right_joint3")
    told = Told(start, np.zeros(14), start)
    measured = start - np.eye(14)[at] * LIMITS.lead[at]
    verdict = limit(told, start + np.eye(14)[at] * 0.0001, measured, LIMITS)
    assert Clip(int(verdict.clips[at])) == Clip.LEAD
    np.testing.assert_allclose(verdict.told.position, start, atol=1e-12)


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("side", [-1, 1])
def test_five_radians_beyond_a_limit_ends_at_the_limit_and_is_counted(name: str, side: int) -> None:
    """B23: a finite target out of limits is limited and counted, never silently."""
    told, at = seeded(HOME), index(name)
    bound = (LIMITS.upper if side > 0 else LIMITS.lower)[at]
    asked = HOME.copy()
    asked[at] = bound + side * 5.0
    for _ in range(500):
        verdict = limit(told, asked, told.position, FAR)
        assert verdict.clips[at] & Clip.LIMIT
        told = verdict.told
    assert told.position[at] == pytest.approx(bound, abs=1e-9)
    others = np.arange(14) != at
    np.testing.assert_allclose(told.position[others], HOME[others])
    assert not verdict.clips[others].any()


def test_the_limit_itself_is_no_clip() -> None:
    told = seeded(LIMITS.upper)
    verdict = limit(told, LIMITS.upper, LIMITS.upper, LIMITS)
    np.testing.assert_array_equal(verdict.told.position, LIMITS.upper)
    assert not verdict.clips.any()


def test_full_speed_itself_is_no_clip_and_a_little_more_is() -> None:
    start = np.clip(HOME, LIMITS.lower + 1.0, LIMITS.upper - 1.0)
    moving = Told(start, LIMITS.speed.copy(), start)
    exact = limit(moving, start + LIMITS.speed * PERIOD_S, start, FAR)
    assert not exact.clips[JOINT_MASK].any()
    more = limit(moving, start + LIMITS.speed * PERIOD_S * 1.001, start, FAR)
    assert (more.clips[JOINT_MASK] & Clip.SPEED).all()


def test_seeded_beyond_a_limit_an_arm_stays_there_until_asked_inward() -> None:
    """A pose measured outside the soft limits must not make the arm move by itself at torque enable."""
    told = seeded(LIMITS.upper + 0.03)
    for asked in (told.position, told.position + 1.0):
        verdict = limit(told, asked, told.position, LIMITS)
        np.testing.assert_array_equal(verdict.told.position, told.position)
    inward = limit(told, LIMITS.upper - 0.1, told.position, LIMITS)
    assert (inward.told.position < told.position).all()
    np.testing.assert_array_equal(brake(told, LIMITS).told.position, told.position)


def test_braking_stops_and_then_stays_on_the_same_target_while_the_measured_arm_sags() -> None:
    told = Told(HOME, LIMITS.speed * 0.5, HOME)
    stops_after = int(np.ceil((LIMITS.speed * 0.5 / (LIMITS.acceleration * PERIOD_S)).max()))
    for _ in range(stops_after):
        assert not at_rest(told)
        told = brake(told, LIMITS).told
    assert at_rest(told)
    held = told.position.copy()
    for _ in range(1000):
        told = brake(told, LIMITS).told
    np.testing.assert_array_equal(told.position, held)


def test_an_arm_held_back_suddenly_brakes_by_the_rules_and_the_contradiction_is_counted() -> None:
    start = np.clip(HOME, LIMITS.lower + 1.0, LIMITS.upper - 1.0)
    told = Told(start, LIMITS.speed.copy(), start)
    verdict = limit(told, start + 1.0, start - LIMITS.lead - 1.0, LIMITS)
    _assert_lawful(told, verdict.told, LIMITS)
    assert (verdict.clips & Clip.EMPTY).all()
    assert (verdict.clips & Clip.LEAD).all()


def test_skipped_periods_lower_the_speed_that_is_continued() -> None:
    told = Told(HOME, np.full(14, 0.8), HOME)
    np.testing.assert_allclose(told.after_skipping(3).velocity, 0.2)
    np.testing.assert_array_equal(told.after_skipping(0).velocity, told.velocity)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_course_that_was_limited_is_followed_to_rounding_when_it_is_asked_for_again(seed: int) -> None:
    """B40: a replay of what the arms were told; at the limit of acceleration rounding once grew to 0.2 rad."""
    random = np.random.default_rng(seed)
    first, goal = seeded(HOME), HOME
    course, told = [], first
    for tick in range(600):
        if tick % 20 == 0:
            goal = HOME + random.uniform(-0.6, 0.6, 14)
        told = limit(told, goal, told.position, LIMITS).told
        course.append(told.position)
    again = first
    for wanted in course:
        again = limit(again, wanted, again.position, LIMITS).told
        assert np.abs(again.position - wanted).max() < 1e-8
