"""The loop itself: watchdogs, vetoes, torque, faults, overruns, the way out."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from contract.errors import RigError
from contract.layout import CHANNELS, JOINT_MASK
from robot_client.clock import NS_PER_MS
from robot_client.modes import Event, Mode
from robot_client.rigs.base import JointReading, Stop
from robot_client.safety.limits import limits_of
from robot_client.sources.base import Asked, Moment
from robot_client.sources.pose import PoseSource
from tests.robot_client.stage import HOME, PERIOD_NS, STATION, Stage, line, steady, told_of, travel

PARKED = STATION.poses.park.vector()


def _moving(o: object) -> NDArray:
    return line(HOME, 0.005, o.first_row, 16 - len(o.prefix)) * JOINT_MASK + HOME * ~JOINT_MASK  # type: ignore[attr-defined]


def _stage(engage: bool = True) -> Stage:
    return Stage(steady(_moving), engage=engage)


def _patch_joints(stage: Stage, change: Callable[[JointReading], JointReading]) -> None:
    joints = stage.rig.joints
    stage.rig.joints = lambda: change(joints())  # type: ignore[method-assign]


def test_torque_comes_on_with_told_seeded_from_measured_and_nothing_moves() -> None:
    stage = _stage(engage=False)
    assert stage.mode == "IDLE"
    assert travel(stage.run(2.0)) == 0.0
    np.testing.assert_array_equal(stage.ticks[-1].told, HOME)


def test_a_hold_never_follows_a_sagging_arm() -> None:
    """A hold seeded anew from a sagging pose ratchets down."""
    stage = _stage()
    stage.run(3.0)
    stage.person("hold")
    stage.run(0.5)
    _patch_joints(stage, lambda reading: dataclasses.replace(reading, positions=reading.positions - 0.03))
    held = stage.run(5.0)
    stage.person("release")
    stage.run(0.5)
    stage.person("hold")
    np.testing.assert_array_equal(told_of(stage.run(1.0))[-1], told_of(held)[0])


def test_told_is_seeded_anew_after_a_person_moved_the_relaxed_arms() -> None:
    stage = _stage(engage=False)
    stage.person("relax")
    ticks = stage.run(0.5)
    assert stage.mode == "RELAXED"
    assert stage.rig.stops == [Stop.RELAX]
    assert ticks[-1].told is None
    moved = HOME + 0.2 * JOINT_MASK
    stage.rig.command(moved)
    stage.run(0.5)
    stage.person("enable")
    ticks = stage.run(0.5)
    assert stage.mode == "IDLE"
    np.testing.assert_array_equal(ticks[-1].told, moved)


@pytest.mark.parametrize("mode", ["IDLE", "POLICY"])
def test_old_joints_lead_to_hold_within_their_age_limit(mode: str) -> None:
    stage = _stage(engage=mode == "POLICY")
    stage.run(3.0)
    assert stage.mode == mode
    frozen = stage.rig.joints()
    stage.rig.joints = lambda: frozen  # type: ignore[method-assign]
    ticks = stage.run_until(lambda: stage.mode == "HOLD", STATION.timing.joints_max_age_ms / 1e3 + 0.1)
    assert ticks[-1].stamp_ns - frozen.stamp_ns <= (STATION.timing.joints_max_age_ms + 10) * NS_PER_MS
    assert "joints are" in stage.reason
    stage.run(0.3)
    assert travel(stage.run(1.0)) == 0.0
    stage.rig.joints = type(stage.rig).joints.__get__(stage.rig)  # type: ignore[method-assign]
    assert travel(stage.run(1.0)) == 0.0
    assert stage.mode == "HOLD"


def test_torque_is_refused_without_a_fresh_reading_and_the_person_is_told_why() -> None:
    stage = _stage(engage=False)
    stage.person("relax")
    stage.run(0.1)
    frozen = stage.rig.joints()
    stage.rig.joints = lambda: frozen  # type: ignore[method-assign]
    stage.run(STATION.timing.joints_max_age_ms / 1e3 + 0.1)
    stage.person("enable")
    stage.run(0.2)
    assert stage.mode == "RELAXED"
    assert "no fresh joint reading" in stage.statuses[-1].notes["notice"]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_measured_joints_that_are_not_finite_are_a_fault(value: float) -> None:
    stage = _stage()
    stage.run(3.0)
    _patch_joints(stage, lambda reading: dataclasses.replace(reading, positions=np.full(14, value)))
    ticks = stage.run(0.1)
    assert stage.mode == "FAULT"
    assert stage.rig.stops == [Stop.HOLD]
    assert ticks[-1].told is None
    assert np.isfinite(told_of(ticks[:1])).all() or ticks[0].told is None


def test_a_rig_that_takes_no_commands_is_a_fault_that_only_a_person_ends() -> None:
    stage = _stage()
    stage.run(3.0)

    def refuse(target: NDArray) -> None:
        raise RigError("bus", expected="an answer", got="none")

    stage.rig.command = refuse  # type: ignore[method-assign]
    stage.run(0.1)
    assert (stage.mode, "bus" in stage.reason) == ("FAULT", True)
    stage.rig.command = type(stage.rig).command.__get__(stage.rig)  # type: ignore[method-assign]
    stage.person("engage")
    assert told_of(stage.run(0.5)).size > 0
    assert stage.mode == "FAULT"
    stage.person("enable")
    stage.run(0.1)
    assert stage.mode == "IDLE"


class _Wild:
    """A source that asks for whatever it is given."""

    name = "wild"

    def __init__(self, values: object) -> None:
        self.values = values

    def begin(self, moment: Moment) -> None:
        """Nothing."""

    def ask(self, moment: Moment) -> Asked:
        return Asked(self.values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "name"),
    [(np.nan, "right_joint2"), (1e300, "left_gripper"), (True, "left_joint1"), ("0.1", "right_gripper")],
)
def test_what_any_source_asks_passes_the_same_veto_and_both_arms_hold(value: object, name: str) -> None:
    """B23: the gate sits after every transform and also covers teleop and replay."""
    stage = _stage()
    stage.run(3.0)
    asked: list[object] = HOME.tolist()
    asked[CHANNELS.index(name)] = value
    stage.process.pilot._driver = _Wild(asked)
    stage.run(1.0)
    assert stage.mode == "HOLD"
    assert name in stage.reason
    assert travel(stage.run(1.0)) == 0.0
    assert np.isfinite(told_of(stage.ticks[20:])).all()


def test_a_stall_of_300_ms_is_skipped_counted_and_followed_by_no_burst() -> None:
    """B41: after a stall rows were caught up at full speed."""
    stage = _stage()
    stage.run(3.0)
    earlier, before = told_of(stage.ticks[-2:])
    stage.clock.advance(300 * NS_PER_MS)
    ticks = [stage.ticks[-1], *stage.run(1.0)]
    assert ticks[1].skipped == 29
    assert stage.counters["periods_skipped"] == 29
    steps = np.abs(np.diff(told_of(ticks), axis=0))
    assert (steps <= np.where(JOINT_MASK, 1.5, 4.0) * 0.01 + 1e-9).all()
    # For 300 ms the arms stood at what they were told last: the first step after that accelerates from there.
    limits = limits_of(STATION.safety, 0.01)
    assert (steps[0] <= np.abs(before - earlier) / 30 + limits.acceleration * 0.01**2 + 1e-9).all()
    assert stage.mode in ("POLICY", "HOLD")


def test_every_tick_is_recorded_with_what_was_asked_told_and_measured() -> None:
    stage = _stage()
    ticks = stage.run(3.0)
    stamps = np.array([tick.stamp_ns for tick in ticks])
    np.testing.assert_array_equal(np.diff(stamps), PERIOD_NS)
    assert {tick.source for tick in ticks} == {"policy"}
    measured = np.array([tick.measured for tick in ticks])
    np.testing.assert_allclose(measured[2:], told_of(ticks)[:-2], atol=1e-12)


@pytest.mark.parametrize("when_s", [0.0, 0.05, 0.5, 1.5, 4.0])
def test_the_end_brakes_holds_parks_and_is_done_in_time_whenever_it_comes(when_s: float) -> None:
    stage = _stage()
    stage.run(when_s)
    stage.person("finish")
    ticks = stage.run_until(lambda: stage.ended, 7.0)
    assert stage.mode == "HOLD"
    np.testing.assert_allclose(ticks[-1].told, PARKED, atol=1e-6)
    assert [mode for mode, _ in itertools.groupby(tick.mode for tick in ticks)][-3:] == ["HOLD", "PARK", "HOLD"]
    assert (np.abs(np.diff(told_of(ticks), axis=0)) <= np.where(JOINT_MASK, 2.0, 4.0) * 0.01 + 1e-9).all()


def test_a_supervisor_that_is_gone_ends_the_run_on_a_parked_twin() -> None:
    """B14: nothing stopped the arm when its commander died."""
    stage = _stage()
    stage.run(3.0)
    stage.to_loop.close()
    loop, pacer = stage.process.loop, stage.pacer
    for _ in range(700):
        if stage.process.ending.done(stage.clock.now_ns(), loop.resting):
            break
        loop.tick(pacer.wait())
    assert stage.process.ending.begun
    np.testing.assert_allclose(stage.ticks[-1].told, PARKED, atol=1e-6)


def test_a_planner_that_is_gone_leads_to_hold_at_once_and_no_parking() -> None:
    """B14"""
    stage = _stage()
    stage.run(3.0)
    stage.planner_side.close()
    for _ in range(2):
        stage.process.loop.tick(stage.pacer.wait())
    assert (stage.mode, stage.reason) == ("HOLD", "the planner is gone")
    assert not stage.process.ending.begun


def test_a_stop_during_the_last_parking_holds_there_and_the_run_ends() -> None:
    stage = _stage()
    stage.run(3.0)
    stage.person("finish")
    stage.run_until(lambda: stage.mode == "PARK", 2.0)
    stage.run(0.3)
    stage.person("stop")
    stage.run_until(lambda: stage.ended, 2.0)
    assert stage.mode == "HOLD"
    assert np.abs(stage.ticks[-1].told - PARKED).max() > 0.05


def test_a_rig_that_does_not_park_itself_ends_on_hold_where_it_stood() -> None:
    stage = _stage()
    stage.run(3.0)
    stage.process.pilot._parks_itself = False
    stage.process.ending._parks_itself = False
    stage.person("finish")
    ticks = stage.run_until(lambda: stage.ended, 2.0)
    assert stage.mode == "HOLD"
    assert {tick.mode for tick in ticks} == {"HOLD"}


@pytest.mark.parametrize(("act", "pose"), [("park", "park"), ("home", "home")])
def test_a_person_sends_the_arms_to_a_pose_gently_and_they_hold_there(act: str, pose: str) -> None:
    stage = _stage()
    stage.run(3.0)
    stage.person(act)
    ticks = stage.run_until(lambda: stage.mode == "HOLD", 6.0)
    np.testing.assert_allclose(ticks[-1].told, getattr(STATION.poses, pose).vector(), atol=1e-6)
    assert {tick.source for tick in ticks} == {f"pose:{pose}", "hold"}
    assert stage.reason == f"pose:{pose} reached"


def test_another_pose_on_the_way_to_one_is_reached_as_gently_as_from_rest() -> None:
    """ "home" during "park" changed the source without its ramp: the arms went home at the full speed limit."""
    stage = _stage()
    stage.run(3.0)
    stage.process.pilot._poses = {  # as on real arms, with people near
        name: PoseSource(name, getattr(STATION.poses, name).vector(), stage.process.loop._limits, 0.35)
        for name in ("home", "park")
    }
    stage.person("park")
    stage.run_until(lambda: stage.mode == "PARK", 0.1)
    stage.run(1.5)
    away = np.abs(stage.ticks[-1].told - HOME).max()
    assert away > 0.1, "too near to home to tell a ramp from a leap"
    stage.person("home")
    ticks = stage.run_until(lambda: stage.mode == "HOLD", 10.0)
    np.testing.assert_allclose(ticks[-1].told, HOME, atol=1e-6)
    speed = np.abs(np.diff(told_of(ticks), axis=0)) / (PERIOD_NS / 1e9)
    assert (speed / stage.process.loop._limits.speed).max() < 0.5


@pytest.mark.parametrize("act", ["engage", "park", "home"])
def test_nothing_moves_while_torque_is_off(act: str) -> None:
    stage = _stage(engage=False)
    stage.person("power_off")
    stage.run(0.1)
    stage.person(act)
    ticks = stage.run(1.0)
    assert stage.mode == "OFF"
    assert all(tick.told is None for tick in ticks)
    assert "changes nothing in OFF" in stage.statuses[-1].notes["notice"]


def test_a_falling_arm_is_named_and_never_reported_as_held() -> None:
    stage = _stage()
    stage.run(3.0)
    stage.process.pilot.happens(Event.MOTOR_DEAD, "left arm: motor thread ended")
    stage.person("hold")
    stage.person("park")
    stage.run(0.5)
    assert stage.process.pilot.state.mode is Mode.FALLING
    assert "left arm" in stage.statuses[-1].reason


def test_an_unreadable_message_is_counted_and_the_next_one_works() -> None:
    stage = _stage(engage=False)
    stage.to_loop._socket.send(b"\xff\xff")
    stage.person("hold")
    stage.run(0.1)
    assert stage.mode == "HOLD"
    assert stage.process.inbox.counts["unreadable"] == 1


def test_an_instruction_longer_than_the_protocols_is_refused_and_neither_kept_nor_repeated() -> None:
    stage = _stage(engage=False)
    stage.person("instruction", "x" * 150_000)
    stage.run(0.3)
    assert stage.mode == "IDLE" and stage.process.pilot.instruction == ""
    assert "150000 characters, at most 1000" in stage.statuses[-1].notes["notice"]


def test_a_report_that_fits_no_datagram_is_counted_and_the_loop_goes_on() -> None:
    """B30's kind: an error in telling people about the arms must not end what holds them."""
    stage = _stage(engage=False)
    stage.process.reporter.notes["alarm"] = "x" * 200_000
    stage.run(0.3)
    assert stage.mode == "IDLE"
    stage.process.reporter.notes["alarm"] = ""
    assert stage.counters["reports_dropped"] > 0


def test_nothing_but_an_engagement_or_a_pose_moves_the_arms_after_a_hold() -> None:
    stage = _stage()
    stage.run(2.0)
    stage.person("hold")
    stage.run(0.5)
    for act in ("hold", "stop", "instruction", "enable", "release"):
        stage.person(act)
        assert travel(stage.run(0.5)) == 0.0
    assert stage.mode == "IDLE"
