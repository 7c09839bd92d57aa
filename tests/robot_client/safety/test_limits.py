"""The station's limits channel by channel, the state they are applied to, and the bits of every reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contract.layout import pack
from contract.station import Safety, load_station
from robot_client.safety.limits import SPACE_CLIPS, UNLIMITED_JERK, Clip, Told, Verdict, limits_of, seeded
from robot_client.safety.space import FREE

SAFETY = load_station("twin").safety
SIX = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)


def _safety(**arms: dict[str, object]) -> Safety:
    return SAFETY.model_copy(update={arm: getattr(SAFETY, arm).model_copy(update=what) for arm, what in arms.items()})


def test_every_reason_has_the_bit_that_episodes_carry() -> None:
    assert {reason.name: int(reason) for reason in Clip} == {
        "LIMIT": 1,
        "SPEED": 2,
        "ACCELERATION": 4,
        "BRAKING": 8,
        "LEAD": 16,
        "EMPTY": 32,
        "TOOL_SPEED": 64,
        "DISTANCE": 128,
        "WORKSPACE": 256,
        "TABLE": 512,
        "JERK": 1024,
    }
    assert int(SPACE_CLIPS) == 128 + 256 + 512


def test_each_limit_is_the_stations_own_of_its_arm_and_channel() -> None:
    left = {"speed_rad_s": SIX, "gripper_speed_1_s": 7.0, "acceleration_rad_s2": SIX, "gripper_acceleration_1_s2": 8.0}
    safety = _safety(left=left)
    limits, right = limits_of(safety, 0.02), SAFETY.right
    np.testing.assert_array_equal(limits.speed, [*SIX, 7.0, *right.speed_rad_s, right.gripper_speed_1_s])
    np.testing.assert_array_equal(
        limits.acceleration, [*SIX, 8.0, *right.acceleration_rad_s2, right.gripper_acceleration_1_s2]
    )
    one = [safety.lead_rad] * 6 + [safety.lead_gripper]
    assert safety.lead_rad != safety.lead_gripper
    np.testing.assert_array_equal(limits.lead, one + one)
    np.testing.assert_array_equal(limits.lower, safety.vectors("lower_rad", 0.0))
    np.testing.assert_array_equal(limits.upper, safety.vectors("upper_rad", 1.0))
    assert (limits.lower[[6, 13]] == 0.0).all() and (limits.upper[[6, 13]] == 1.0).all()
    assert (limits.period_s, limits.tool_speed_m_s) == (0.02, safety.tool_speed_m_s)
    assert limits.space is not FREE
    assert limits_of(safety.model_copy(update={"space": None}), 0.02).space is FREE


def test_the_way_to_rest_is_looked_at_for_a_space_or_a_tool_speed_and_for_nothing_else() -> None:
    limits = limits_of(SAFETY, 0.01)
    free, endless = {"space": FREE}, {"tool_speed_m_s": float("inf")}
    assert limits.guarded and replace(limits, **free).guarded and replace(limits, **endless).guarded
    assert not replace(limits, **free, **endless).guarded


def test_jerk_is_unlimited_wherever_the_station_asks_for_none() -> None:
    assert UNLIMITED_JERK == 1e12
    plain = limits_of(SAFETY, 0.01)
    assert plain.jerk is None
    np.testing.assert_array_equal(plain.most_jerk, np.full(14, 1e12))
    free = [1e12] * 6
    for arms, expected in (
        ({"left": {"jerk_rad_s3": SIX}}, pack(SIX, 1e12, free, 1e12)),
        ({"right": {"jerk_rad_s3": SIX}}, pack(free, 1e12, SIX, 1e12)),
        ({"left": {"jerk_rad_s3": SIX}, "right": {"jerk_rad_s3": SIX}}, pack(SIX, 1e12, SIX, 1e12)),
    ):
        limits = limits_of(_safety(**arms), 0.01)
        np.testing.assert_array_equal(limits.jerk, expected)
        np.testing.assert_array_equal(limits.most_jerk, expected)


@pytest.mark.parametrize(("periods", "speed"), [(0, 0.8), (1, 0.4), (3, 0.2)])
def test_skipped_periods_lower_the_speed_that_is_continued(periods: int, speed: float) -> None:
    told = Told(np.full(14, 0.1), np.full(14, 0.8), np.full(14, 0.3), np.full(14, 5.0))
    after = told.after_skipping(periods)
    np.testing.assert_allclose(after.velocity, speed)
    np.testing.assert_array_equal(after.position, told.position)
    np.testing.assert_array_equal(after.asked, told.asked)
    # After a gap nothing is known of the acceleration; without one nothing changes.
    np.testing.assert_array_equal(after.acceleration + np.zeros(14), 5.0 if periods == 0 else 0.0)


def test_rows_are_taken_whole_and_an_acceleration_of_nothing_is_that_of_every_row() -> None:
    grid = np.arange(42.0).reshape(3, 14)
    told = Told(grid, grid + 100, grid + 200, grid + 300)
    some = told.rows(np.array([2, 0]))
    for array, shift in ((some.position, 0), (some.velocity, 100), (some.asked, 200), (some.acceleration, 300)):
        np.testing.assert_array_equal(array, grid[[2, 0]] + shift)
    np.testing.assert_array_equal(Told(grid, grid, grid).rows(np.array([1])).acceleration, np.zeros((1, 14)))


def test_seeded_is_at_rest_where_the_arms_were_measured_and_keeps_no_hand_on_that_array() -> None:
    measured = np.linspace(0, 1, 14).astype(np.float32)
    told = seeded(measured)
    for array in (told.position, told.asked):
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, measured)
        assert not np.shares_memory(array, measured)
    assert not np.shares_memory(told.position, told.asked)
    assert not told.velocity.any() and told.acceleration == 0.0


def test_a_verdict_is_what_it_was_given() -> None:
    told, clips = seeded(np.zeros(14)), np.zeros(14, np.uint16)
    verdict = Verdict(told, clips)
    assert verdict.told is told and verdict.clips is clips
