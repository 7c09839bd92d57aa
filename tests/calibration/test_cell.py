"""Motions of a calibration: what safety does not let happen is given up, and the next one goes on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration.cell import Cell
from calibration.course import Wiggle
from contract.errors import RigError
from contract.layout import index
from contract.station import load_station
from robot_client.clock import NS_PER_S, FakeClock
from robot_client.rigs.base import HeldError, JointReading
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


class Sagging(IdealRig):
    """Arms that hang below where they are held, with something between the jaws."""

    def __init__(self, clock: FakeClock, start: NDArray[np.float64]) -> None:
        super().__init__(clock, start)
        self.held = start.copy()

    def command(self, target: NDArray[np.float64]) -> None:
        self.held = target.copy()
        super().command(target)

    def joints(self) -> JointReading:
        reading = super().joints()
        return JointReading(reading.positions + 0.03, reading.velocities, reading.stamp_ns, self.held)


def test_arms_that_are_sent_where_they_stand_do_not_creep_by_their_sag_and_jaws_go_on_pressing() -> None:
    """Poses were made of measured joints: with each one held arms sank by 0.03 rad, and jaws let go of the board."""
    cell, _ = made(Sagging)
    assert isinstance(cell.rig, Sagging)
    for _ in range(3):
        assert cell.go(cell.stands())
        np.testing.assert_allclose(cell.rig.held, HOME, atol=1e-6)


class Stuck(IdealRig):
    """An arm that does not follow."""

    def joints(self) -> JointReading:
        reading = super().joints()
        return JointReading(HOME.copy(), np.zeros(14), reading.stamp_ns)


class Held(IdealRig):
    """Arms with holders: who is silent for 0.1 s finds them held, once."""

    def __init__(self, clock: FakeClock, start: NDArray[np.float64]) -> None:
        super().__init__(clock, start)
        self.moment, self.heard_ns, self.closed = clock, 0, 0

    def command(self, target: NDArray[np.float64]) -> None:
        late = self.heard_ns and self.moment.now_ns() - self.heard_ns > NS_PER_S // 10
        self.heard_ns = self.moment.now_ns()
        if late:
            raise HeldError("the client is late; held where it was sent")
        super().command(target)

    def close(self) -> None:
        self.closed += 1


def test_after_a_pause_in_which_holders_held_the_arms_the_next_motion_begins_there() -> None:
    """On real arms every motion after a prompt, or after a search for the board in many pictures, ended at once with
    "HOLD: client 25329 is 204 ms late; held where it was sent", and the calibration with it."""
    cell, clock = made(Held)
    away = HOME.copy()
    away[0] -= 0.1
    for pose in (HOME, away, HOME):
        assert cell.go(pose)
        clock.advance(3 * NS_PER_S)


def test_a_person_may_bring_arms_that_are_let_be_and_the_next_motion_begins_where_they_are_then() -> None:
    """They were asked to bring an arm that the calibration held and let no other program have."""
    cell, clock = made(Held)
    assert isinstance(cell.rig, Held) and cell.go(HOME)
    cell.let_be()
    assert cell.rig.closed == 1
    brought = HOME.copy()
    brought[index("left_joint1")] += 0.4
    clock.advance(30 * NS_PER_S)
    IdealRig.command(cell.rig, brought)
    clock.advance(30 * NS_PER_S)
    assert cell.go(HOME)
    told = np.array([tick.told for tick in cell._ticks])
    assert np.abs(told[0] - brought).max() < 0.01 and np.abs(np.diff(told, axis=0)).max() < 0.02


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
