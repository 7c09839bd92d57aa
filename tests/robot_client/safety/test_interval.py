"""One interval of speeds: each limit's own ends in numbers worked out by hand, and how two of them are joined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contract.station import load_station
from robot_client.safety.interval import (
    TOLERANCE,
    Interval,
    acceleration_interval,
    braking_interval,
    clipped,
    differ,
    lead_interval,
    speed_interval,
    stopping_speed,
)
from robot_client.safety.limits import Told, limits_of

LIMITS = replace(
    limits_of(load_station("twin").safety, 0.1),
    lower=np.full(14, -1.0),
    upper=np.full(14, 3.0),
    speed=np.full(14, 1.5),
    acceleration=np.full(14, 8.0),
    lead=np.full(14, 0.4),
)


def _told(position: float, velocity: float = 0.0) -> Told:
    return Told(np.full(14, position), np.full(14, velocity), np.full(14, position))


def _ends(interval: Interval) -> tuple[float, float]:
    assert np.ptp(interval.low) == 0.0 and np.ptp(interval.high) == 0.0
    return float(interval.low[0]), float(interval.high[0])


def test_each_limit_allows_just_its_own_speeds() -> None:
    assert _ends(speed_interval(LIMITS)) == (-1.5, 1.5)
    assert _ends(acceleration_interval(_told(0.0, 0.5), LIMITS)) == pytest.approx((0.5 - 0.8, 0.5 + 0.8))
    measured = np.full(14, 0.1)
    assert _ends(lead_interval(_told(0.25), measured, LIMITS)) == pytest.approx((-5.5, 2.5))
    # sqrt(0.8^2 + 2 * 8 * d) - 0.8 with d = 2.31 down to the lower limit and 1.69 up to the upper one.
    ends = _ends(braking_interval(_told(1.31), LIMITS))
    assert ends == pytest.approx((0.8 - (0.64 + 36.96) ** 0.5, (0.64 + 27.04) ** 0.5 - 0.8))


@pytest.mark.parametrize(("position", "ends"), [(3.2, (-1.0, 0.0)), (-1.2, (0.0, 1.0)), (3.0, (-1.0, 0.0))])
def test_at_and_beyond_a_position_limit_only_inward_is_allowed(position: float, ends: tuple[float, float]) -> None:
    low, high = _ends(braking_interval(_told(position), LIMITS))
    assert (low < 0.0, high > 0.0) == (ends[0] < 0.0, ends[1] > 0.0)
    assert 0.0 in (low, high)


def test_numbers_apart_by_exactly_the_rounding_do_not_differ_and_a_little_further_apart_they_do() -> None:
    assert differ(np.array([1.0, TOLERANCE, -TOLERANCE]), np.array([1.0, 0.0, 0.0])).tolist() == [False] * 3
    assert (
        differ(np.array([1.0, 1.01 * TOLERANCE, 0.0]), np.array([-1.0, 0.0, 1.01 * TOLERANCE])).tolist() == [True] * 3
    )


def test_from_a_stopping_speed_braking_ends_within_the_way_and_is_a_stopping_speed_again() -> None:
    for distance in (0.0, 1e-6, 0.04, 1.0):
        speed = float(stopping_speed(np.array(distance), np.array(8.0), 0.1))
        assert speed**2 == pytest.approx(2 * 8.0 * (distance - speed * 0.1), abs=1e-12)
        left = distance - speed * 0.1
        assert stopping_speed(np.array(left), np.array(8.0), 0.1) >= speed - 8.0 * 0.1 - 1e-12
    assert stopping_speed(np.array(-5.0), np.array(8.0), 0.1) == 0.0


def test_a_speed_is_outside_by_more_than_rounding_only() -> None:
    interval = Interval(np.array(-1.0), np.array(2.0))
    for speed, outside in (
        (-1.0 - 1.1e-9, True),
        (-1.0 - 0.9e-9, False),
        (0.0, False),
        (2.0 + 0.9e-9, False),
        (2.0 + 1.1e-9, True),
    ):
        assert bool(interval.violated_by(np.array(speed))) == outside
    still = Interval(np.array(0.0), np.array(0.0))
    assert not still.violated_by(np.array(-TOLERANCE)) and not still.violated_by(np.array(TOLERANCE))


@pytest.mark.parametrize(
    ("other", "common", "empty"),
    [
        ((-3.0, 5.0), (-1.0, 2.0), False),
        ((0.5, 1.0), (0.5, 1.0), False),
        ((-3.0, 1.0), (-1.0, 1.0), False),
        ((0.0, 5.0), (0.0, 2.0), False),
        ((3.0, 5.0), (2.0, 2.0), True),
        ((-5.0, -3.0), (-1.0, -1.0), True),
        ((2.0, 5.0), (2.0, 2.0), False),
        ((-5.0, -1.0), (-1.0, -1.0), False),
        ((2.0 + 0.9e-9, 5.0), (2.0, 2.0), False),
        ((2.0 + 1.1e-9, 5.0), (2.0, 2.0), True),
        ((-5.0, -1.0 - 0.9e-9), (-1.0, -1.0), False),
        ((-5.0, -1.0 - 1.1e-9), (-1.0, -1.0), True),
    ],
)
def test_where_two_contradict_the_first_gives_its_nearest_point(
    other: tuple[float, float], common: tuple[float, float], empty: bool
) -> None:
    found, none = Interval(np.array(-1.0), np.array(2.0)).narrowed(Interval(np.array(other[0]), np.array(other[1])))
    assert (float(found.low), float(found.high), bool(none)) == (*common, empty)
    # A gap of just the rounding is none.
    still = Interval(np.array(-1.0), np.array(0.0))
    assert not still.narrowed(Interval(np.array(TOLERANCE), np.array(1.0)))[1]


def test_clipped_is_np_clip_also_where_the_ends_contradict_each_other() -> None:
    random = np.random.default_rng(1)
    values, low, high = random.normal(size=(3, 200))
    np.testing.assert_array_equal(clipped(values, low, high), np.clip(values, low, high))
    assert (low > high).any() and (values < low).any() and (values > high).any()
    np.testing.assert_array_equal(clipped(values, -0.5, 0.5), np.clip(values, -0.5, 0.5))
