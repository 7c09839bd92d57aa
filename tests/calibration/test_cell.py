"""Motions of a calibration: what safety does not let happen is given up, and the next one goes on."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.cell import Cell
from calibration.course import Wiggle
from contract.errors import RigError
from contract.layout import index
from contract.station import load_station
from robot_client.clock import NS_PER_S, FakeClock
from robot_client.rigs.base import JointReading
from robot_client.rigs.ideal import IdealRig

STATION = load_station("twin")
HOME = STATION.poses.home.vector()


def made(rig: type[IdealRig] = IdealRig) -> tuple[Cell, FakeClock]:
    clock = FakeClock(NS_PER_S)
    return Cell(rig(clock, HOME), clock, STATION, loop_hz=50.0), clock


def test_a_pose_that_safety_does_not_allow_is_given_up_soon_and_the_next_one_is_reached() -> None:
    """The watchdog of arms that are let nowhere ended the whole calibration at the first such pose."""
    cell, clock = made()
    into_the_table = HOME.copy()
    into_the_table[[index("left_joint2"), index("left_joint3")]] = 2.2, 0.6
    before_ns = clock.now_ns()
    assert not cell.go(into_the_table)
    assert clock.now_ns() - before_ns < 12 * NS_PER_S
    assert cell.go(HOME)
    np.testing.assert_allclose(cell.joints().positions, HOME, atol=1e-3)


class Stuck(IdealRig):
    """An arm that does not follow."""

    def joints(self) -> JointReading:
        reading = super().joints()
        return JointReading(HOME.copy(), np.zeros(14), reading.stamp_ns)


def test_an_arm_that_does_not_follow_ends_the_motion_with_the_watchdogs_words() -> None:
    cell, _ = made(Stuck)
    away = HOME.copy()
    away[0] -= 0.5
    with pytest.raises(RigError, match=r"behind|tracking|follow"):
        cell.go(away)


def test_a_measuring_motion_that_is_blocked_is_no_measurement() -> None:
    cell, _ = made()
    near = HOME.copy()
    near[[index("left_joint2"), index("left_joint3")]] = 1.9, 0.8
    cell.go(near)
    with pytest.raises(RigError, match="to end by itself"):
        cell.follow(Wiggle(index("left_joint2"), 0.6, 6.0, rate_hz=0.05), 6.0)
