"""The way to a pose, and the fade it is made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from contract.layout import JOINT_MASK
from contract.station import load_station
from robot_client.clock import NS_PER_S
from robot_client.fade import Fade, gentle_duration_ns, min_jerk
from robot_client.modes import Event
from robot_client.rigs.base import JointReading
from robot_client.safety.limiter import limit
from robot_client.safety.limits import Told, limits_of, seeded
from robot_client.sources.base import Moment
from robot_client.sources.pose import PoseSource

PERIOD_S = 0.01
STATION = load_station("twin")
LIMITS = limits_of(STATION.safety, PERIOD_S)
HOME, PARK = STATION.poses.home.vector(), STATION.poses.park.vector()


def _moment(tick: int, told: Told) -> Moment:
    reading = JointReading(told.position, told.velocity, 0)
    return Moment(int(tick * PERIOD_S * NS_PER_S), told, reading, 1)


def _go(source: PoseSource, told: Told, ticks: int) -> tuple[Told, list[Told], bool]:
    way = []
    source.begin(_moment(0, told))
    for tick in range(ticks):
        asked = source.ask(_moment(tick, told))
        assert asked.values is not None
        if asked.event is Event.ARRIVED:
            return told, way, True
        told = limit(told, asked.values, told.position, LIMITS).told
        way.append(told)
    return told, way, False


@pytest.mark.parametrize("share", [0.35, 0.8])
def test_the_pose_is_reached_within_the_share_of_the_limits_and_arrival_is_said(share: float) -> None:
    told, way, arrived = _go(PoseSource("park", PARK, LIMITS, share), seeded(HOME), 1000)
    assert arrived
    np.testing.assert_allclose(told.position, PARK, atol=1e-6)
    speeds = np.array([told.velocity for told in way])
    assert (np.abs(speeds) <= LIMITS.speed * share * 1.001).all()
    assert (np.abs(np.diff(speeds, axis=0)) / PERIOD_S <= LIMITS.acceleration * share * 1.05).all()


def test_a_moving_arm_is_turned_around_within_all_limits() -> None:
    moving = Told(HOME, LIMITS.speed * 0.8 * np.sign(HOME - PARK + 1e-3) * JOINT_MASK, HOME)
    told, way, arrived = _go(PoseSource("park", PARK, LIMITS, 0.35), moving, 2000)
    assert arrived
    np.testing.assert_allclose(told.position, PARK, atol=1e-6)
    steps = np.diff(np.array([moving.velocity, *(told.velocity for told in way)]), axis=0) / PERIOD_S
    assert (np.abs(steps) <= LIMITS.acceleration + 1e-6).all()


def test_standing_at_the_pose_arrives_at_once() -> None:
    told, _, arrived = _go(PoseSource("park", PARK, LIMITS, 0.35), seeded(PARK), 5)
    assert arrived
    np.testing.assert_array_equal(told.position, PARK)


@given(offset=arrays(np.float64, 14, elements=st.floats(-3, 3)), share=st.floats(0.05, 1.0))
def test_a_gentle_fade_keeps_to_its_share_of_speed_and_acceleration(offset: NDArray, share: float) -> None:
    fade = Fade(offset, 0, gentle_duration_ns(offset, LIMITS, share))
    times = np.linspace(0, fade.duration_ns, 400)
    course = np.array([fade.at(int(t)) for t in times])
    step_s = times[1] / NS_PER_S
    speed = np.diff(course, axis=0) / step_s
    assert (np.abs(speed) <= LIMITS.speed * share * 1.01 + 1e-6).all()
    if fade.duration_ns > 2 * PERIOD_S * NS_PER_S:
        assert (np.abs(np.diff(speed, axis=0)) / step_s <= LIMITS.acceleration * share * 1.02 + 1e-3).all()
    np.testing.assert_array_equal(fade.at(0), offset)
    np.testing.assert_allclose(fade.at(fade.duration_ns), 0, atol=1e-12)


def test_minimum_jerk_rests_at_both_ends() -> None:
    assert [min_jerk(f) for f in (-1.0, 0.0, 0.5, 1.0, 2.0)] == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert min_jerk(1e-4) < 1e-10
    assert 1 - min_jerk(1 - 1e-4) < 1e-10
