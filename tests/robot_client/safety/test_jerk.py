"""With a limit of jerk: kept wherever it can be, given up first and counted where it cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contract.errors import StationError
from contract.layout import GRIPPER_MASK, JOINT_MASK
from contract.station import STATIONS, load_station
from robot_client.safety.jerk import eased, eased_stopping_speed
from robot_client.safety.limiter import at_rest, brake, limit
from robot_client.safety.limits import UNLIMITED_JERK, Clip, Told, limits_of, seeded
from robot_client.safety.space import FREE

PERIOD_S = 0.01
JERK = 200.0
PLAIN = replace(limits_of(load_station("twin").safety, PERIOD_S), space=FREE, tool_speed_m_s=float("inf"))
LIMITS = replace(PLAIN, jerk=np.where(JOINT_MASK, JERK, UNLIMITED_JERK), lead=np.full(14, 1e9))
HOME = load_station("twin").poses.home.vector()
MIDDLE = np.clip(HOME, LIMITS.lower + 1.2, LIMITS.upper - 1.2) * JOINT_MASK + 0.5 * GRIPPER_MASK


def _jerks(before: Told, after: Told) -> np.ndarray:
    change = (after.velocity - before.velocity) / PERIOD_S
    return (np.abs(change - before.acceleration) / PERIOD_S)[JOINT_MASK]


def test_the_way_to_a_far_target_keeps_the_jerk_and_arrives() -> None:
    told, goal, worst, seen = seeded(MIDDLE), MIDDLE + 0.5 * JOINT_MASK, 0.0, 0
    for _ in range(400):
        verdict = limit(told, goal, told.position, LIMITS)
        worst, seen = max(worst, float(_jerks(told, verdict.told).max())), seen | int(verdict.clips[0])
        assert not (verdict.clips & Clip.EMPTY).any()
        assert (verdict.told.position <= goal + 1e-6).all()
        told = verdict.told
    assert 0.9 * JERK < worst <= JERK * (1 + 1e-9)
    assert seen & Clip.JERK
    np.testing.assert_allclose(told.position, goal, atol=1e-4)
    assert (np.abs(told.velocity) < 1e-3).all()


def test_without_the_limit_the_same_way_has_far_more_jerk_and_no_such_reason() -> None:
    told, worst, seen = seeded(MIDDLE), 0.0, 0
    for _ in range(100):
        verdict = limit(told, MIDDLE + 0.5 * JOINT_MASK, told.position, replace(LIMITS, jerk=None))
        worst, seen = max(worst, float(_jerks(told, verdict.told).max())), seen | int(verdict.clips[0])
        told = verdict.told
    assert worst > 3 * JERK and not seen & Clip.JERK


def test_braking_builds_up_within_the_jerk_and_ends_at_exact_rest() -> None:
    told = Told(MIDDLE, 0.8 * JOINT_MASK, MIDDLE)
    first = brake(told, LIMITS)
    np.testing.assert_allclose(first.told.velocity[JOINT_MASK], 0.8 - JERK * PERIOD_S**2)
    assert not first.clips.any()
    ticks = 0
    while not at_rest(told):
        after = brake(told, LIMITS).told
        assert _jerks(told, after).max() <= JERK * (1 + 1e-9)
        assert (after.velocity[JOINT_MASK] >= 0.0).all()
        told, ticks = after, ticks + 1
        assert ticks < 100
    assert ticks > 12


def test_near_a_position_limit_the_jerk_gives_way_and_that_is_counted() -> None:
    near = LIMITS.upper - 0.8**2 / (2 * LIMITS.acceleration) - 0.004
    start = np.where(JOINT_MASK, near, 0.5)
    told, counted = Told(start, 0.8 * JOINT_MASK, start), False
    while not at_rest(told):
        verdict = brake(told, LIMITS)
        step = LIMITS.acceleration * PERIOD_S + 1e-9
        assert (np.abs(verdict.told.velocity - told.velocity) <= step).all()
        assert (verdict.told.position <= LIMITS.upper).all()
        broken = np.zeros(14, bool)
        broken[JOINT_MASK] = _jerks(told, verdict.told) > JERK * (1 + 1e-9)
        both = (verdict.clips & int(Clip.JERK)).astype(bool) & (verdict.clips & int(Clip.EMPTY)).astype(bool)
        assert not (broken & ~both).any()
        counted |= bool(broken.any())
        told = verdict.told
    assert counted


def test_grippers_are_not_eased() -> None:
    verdict = limit(seeded(MIDDLE), MIDDLE + 0.4 * GRIPPER_MASK, MIDDLE, LIMITS)
    plain = limit(seeded(MIDDLE), MIDDLE + 0.4 * GRIPPER_MASK, MIDDLE, replace(LIMITS, jerk=None))
    np.testing.assert_allclose(verdict.told.velocity[GRIPPER_MASK], plain.told.velocity[GRIPPER_MASK])
    assert (verdict.told.velocity[GRIPPER_MASK] > 0).all()


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_small_change_is_made_at_once_and_a_large_one_is_eased(sign: float) -> None:
    told, most = seeded(MIDDLE), JERK * PERIOD_S
    small = eased(told, sign * np.full(14, most * PERIOD_S), LIMITS)[JOINT_MASK]
    np.testing.assert_allclose(small, sign * most * PERIOD_S)
    large = eased(told, sign * np.full(14, 1.0), LIMITS)[JOINT_MASK]
    np.testing.assert_allclose(large, sign * most * PERIOD_S)
    turning = Told(MIDDLE, np.zeros(14), MIDDLE, np.full(14, -sign * 6.0))
    np.testing.assert_allclose(
        eased(turning, sign * np.full(14, 1.0), LIMITS)[JOINT_MASK], sign * (-6.0 + most) * PERIOD_S
    )
    hard = Told(MIDDLE, np.zeros(14), MIDDLE, sign * LIMITS.acceleration)
    np.testing.assert_allclose(
        eased(hard, sign * np.full(14, 1.4), LIMITS)[JOINT_MASK], sign * (LIMITS.acceleration * PERIOD_S)[JOINT_MASK]
    )


def test_a_speed_is_come_to_without_shooting_past_it() -> None:
    told, fastest = seeded(MIDDLE), 0.0
    for _ in range(60):
        speed = eased(told, np.full(14, 0.7), LIMITS)
        told = Told(MIDDLE, speed, MIDDLE, (speed - told.velocity) / PERIOD_S)
        fastest = max(fastest, float(speed.max()))
    np.testing.assert_allclose(told.velocity, 0.7, atol=1e-9)
    assert fastest <= 0.7 + 1e-9


def test_a_braking_that_builds_up_needs_its_longer_way() -> None:
    for distance in (0.001, 0.02, 0.2):
        speed = eased_stopping_speed(np.full(14, distance), LIMITS)[0]
        needed = speed**2 / LIMITS.acceleration[0] + speed * LIMITS.acceleration[0] / JERK
        assert needed == pytest.approx(distance)
    np.testing.assert_array_equal(eased_stopping_speed(np.full(14, -0.1), LIMITS)[JOINT_MASK], 0.0)


def test_a_station_asks_for_it_per_arm_and_nothing_else_does() -> None:
    assert limits_of(load_station("twin").safety, PERIOD_S).jerk is None
    safety = load_station("twin").safety
    left = safety.left.model_copy(update={"jerk_rad_s3": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)})
    jerk = limits_of(safety.model_copy(update={"left": left}), PERIOD_S).jerk
    np.testing.assert_array_equal(jerk, [1, 2, 3, 4, 5, 6, *[UNLIMITED_JERK] * 8])
    right = limits_of(safety.model_copy(update={"right": left}), PERIOD_S).jerk
    np.testing.assert_array_equal(right, [*[UNLIMITED_JERK] * 7, 1, 2, 3, 4, 5, 6, UNLIMITED_JERK])


def test_a_jerk_of_nothing_is_refused(tmp_path) -> None:
    text = (STATIONS / "twin.toml").read_text()
    file = tmp_path / "here.toml"
    file.write_text(text.replace("[safety.left]", "[safety.left]\njerk_rad_s3 = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0]", 1))
    with pytest.raises(StationError, match="joint3: jerk"):
        load_station(str(file))


def test_what_keeps_the_jerk_by_itself_is_told_as_asked_and_not_counted() -> None:
    told = seeded(MIDDLE)
    for tick in range(1, 200):
        angle = 2.0 * tick * PERIOD_S
        asked = MIDDLE + 0.1 * (1 - np.cos(angle)) * (1 - np.exp(-tick / 30)) * JOINT_MASK
        verdict = limit(told, asked, told.position, LIMITS)
        if tick > 60:
            assert not verdict.clips.any()
            np.testing.assert_allclose(verdict.told.position, asked, atol=1e-3)
        told = verdict.told


def test_where_another_limit_needs_more_than_the_jerk_that_is_counted() -> None:
    """Asked to go on at full speed towards a position limit that is just far enough to stop before it."""
    near = LIMITS.upper - 0.8**2 / (2 * LIMITS.acceleration) - 0.002
    start = np.where(JOINT_MASK, near, 0.5)
    told, counted = Told(start, 0.8 * JOINT_MASK, start), 0
    for _ in range(40):
        verdict = limit(told, LIMITS.upper + 1.0 * JOINT_MASK, told.position, LIMITS)
        broken = np.zeros(14, bool)
        broken[JOINT_MASK] = _jerks(told, verdict.told) > JERK * (1 + 1e-6)
        assert (verdict.clips[broken] & Clip.EMPTY).all()
        assert not (verdict.clips[GRIPPER_MASK] & int(Clip.EMPTY | Clip.JERK)).any()
        assert (verdict.told.position <= LIMITS.upper).all()
        told, counted = verdict.told, counted + int(broken.any())
    assert counted
