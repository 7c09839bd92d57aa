"""Leaders through i2rt's own code on emulated encoders and motors."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from contract.arms import LeaderUnit
from contract.errors import ConfigurationError, RigError
from contract.layout import arm_of
from contract.station import load_station
from contract.teleop import LeaderCalibration, Teleop
from robot_client.clock import MonotonicClock
from robot_client.emulator.bus import Wire
from robot_client.emulator.network import Network, redirected
from robot_client.leaders.gello import GelloLeader
from robot_client.leaders.units import emulated_leader, leader_units
from robot_client.leaders.yam import YamLeaders
from robot_client.teleop.sample import LeaderGoal, LeaderSample
from robot_client.teleop.turns import TURN_RAD
from tests.waiting import PATIENCE_S, until

CALIBRATION = LeaderCalibration(
    signs=(1, -1, 1, -1, 1, 1), offsets_rad=(0.2, 0.5, -0.4, 0.0, 1.0, 3.0), gripper_closed_open=(0.7, 0.1)
)
STATION = load_station("twin").model_copy(update={"teleop": Teleop(left=CALIBRATION, right=CALIBRATION)})
HOME = STATION.poses.home.vector()
COUNT = 2 * np.pi / 4096
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


def _unit(side: str, kind: str) -> LeaderUnit:
    return LeaderUnit(channel=f"can_lead_{side[0]}", kind=kind)  # type: ignore[arg-type]


@pytest.fixture
def wires() -> Iterator[dict[str, Wire]]:
    wires = {side: emulated_leader(_unit(side, "encoders"), STATION, side) for side in ("left", "right")}  # type: ignore[arg-type]
    with redirected(Network(*wires.values())):
        yield wires


def _gello(*sides: str) -> GelloLeader:
    return GelloLeader({side: _unit(side, "encoders") for side in sides}, STATION, MonotonicClock())  # type: ignore[misc]


def _read(leader: GelloLeader) -> LeaderSample:
    """A reading without trouble, however busy the machine is."""
    end = time.monotonic() + PATIENCE_S
    while (sample := leader.read(None)).trouble and time.monotonic() < end:
        time.sleep(0.01)
    return sample


def test_encoders_alone_read_as_the_followers_joints_with_offsets_signs_and_trigger(wires: dict[str, Wire]) -> None:
    leader = _gello("left", "right")
    leader.open()
    sample = _read(leader)
    assert sample.arms == ("left", "right")
    np.testing.assert_allclose(sample.values, HOME, atol=1.01 * COUNT)
    assert not sample.trouble
    assert (sample.dead_man, sample.clutch) == (False, True)
    wires["left"].encoders.buttons = 3
    sample = _read(leader)
    assert (sample.dead_man, sample.clutch) == (True, False)
    leader.close()


@pytest.mark.parametrize("turns", [-1, 1, 2])
def test_encoders_that_came_up_in_another_turn_read_the_same(wires: dict[str, Wire], turns: int) -> None:
    """B27: leader reads q, q + 2 pi, q - 2 pi for the same pose: same follower target."""
    board = wires["left"].encoders
    for device in range(1, 7):
        board.angles_rad[device] += turns * TURN_RAD
    leader = _gello("left")
    leader.open()
    np.testing.assert_allclose(arm_of(_read(leader).values, "left"), arm_of(HOME, "left"), atol=1.01 * COUNT)
    leader.close()


def test_a_silent_encoder_at_the_start_is_refused_with_bus_and_device(wires: dict[str, Wire]) -> None:
    """B32 (a): one arm teleoperated while the other was dead; explicit single-arm mode is allowed."""
    wires["left"].encoders.silent.add(4)
    leader = _gello("left", "right")
    with pytest.raises(RigError, match="can_lead_l") as refused:
        leader.open()
    assert "0x50E" in str(refused.value) and "encoder 4" in str(refused.value)
    leader.close()
    alone = _gello("right")
    alone.open()
    assert _read(alone).arms == ("right",)
    alone.close()


def test_an_encoder_that_falls_silent_lets_the_reading_grow_old_and_is_named(wires: dict[str, Wire]) -> None:
    leader = _gello("left", "right")
    leader.open()
    before = _read(leader)
    wires["right"].encoders.silent.add(7)
    silent_ns, end = time.monotonic_ns(), time.monotonic() + PATIENCE_S
    after = leader.read(None)
    while after.trouble != "bus can_lead_r: no answer of encoder 7" and time.monotonic() < end:
        after = leader.read(None)
    assert after.trouble == "bus can_lead_r: no answer of encoder 7"
    assert before.stamp_ns <= after.stamp_ns < silent_ns
    leader.close()


def test_an_open_clutch_stays_open_while_an_encoder_is_silent_and_a_dead_man_does_not(wires: dict[str, Wire]) -> None:
    """One missing answer read as "no button pressed", which closes the clutch: the follower began to ramp to a hand
    that was on its way elsewhere."""
    leader = _gello("left")
    leader.open()
    wires["left"].encoders.buttons = 3
    assert not _read(leader).clutch
    wires["left"].encoders.silent.add(2)
    sample, end = leader.read(None), time.monotonic() + PATIENCE_S
    while sample.trouble != "bus can_lead_l: no answer of encoder 2" and time.monotonic() < end:
        sample = leader.read(None)
    assert sample.trouble == "bus can_lead_l: no answer of encoder 2"
    assert (sample.clutch, sample.dead_man) == (False, False)
    leader.close()


def test_a_bus_that_is_not_there_is_refused_by_name() -> None:
    """B32 (b)"""
    with redirected(Network()), pytest.raises(RigError, match="bus can_lead_l"):
        _gello("left").open()


def test_a_station_without_such_a_leader_says_what_to_add() -> None:
    with pytest.raises(ConfigurationError, match=r"arms\.leaders\.left"):
        leader_units(load_station("yam_example"), "encoders")


def test_a_leader_with_motors_comes_to_the_follower_and_is_then_free() -> None:
    """i2rt's driver, its teaching handle and its checks, unmodified."""
    logging.getLogger().setLevel(logging.CRITICAL)
    unit = _unit("left", "teaching_handle")
    station = load_station("twin")
    wire = emulated_leader(unit, station, "left")
    with redirected(Network(wire)):
        leader = YamLeaders({"left": unit}, station, MonotonicClock())
        leader.open()
        try:
            wire.encoders.angles_rad[1] = 0.35
            wire.encoders.buttons = 1
            goal = np.full(14, np.nan)
            arm_of(goal, "left")[:] = (0.2, 0.4, 0.4, 0.0, 0.0, 0.0, 1.0)
            end = time.monotonic() + PATIENCE_S
            sample = leader.read(None)
            while np.nanmax(np.abs(sample.values - goal)[:6]) > 0.05 and time.monotonic() < end:
                sample = leader.read(LeaderGoal(goal, free=False))
                time.sleep(0.01)
            np.testing.assert_allclose(sample.values[:6], goal[:6], atol=0.05)
            assert sample.values[6] == pytest.approx(0.5, abs=0.01), "the trigger, half pressed"
            assert (sample.dead_man, sample.arms) == (True, ("left",))
            leader.read(LeaderGoal(goal, free=True))
            assert all(wire.arm.powered()[:6]), "it carries its weight"
        finally:
            leader.close()


@pytest.mark.parametrize("thread", ["motors and handle", "joints"])
def test_a_leader_whose_driver_hangs_grows_old(thread: str) -> None:
    """B14: samples were stamped with the moment of looking, so one that stood still for ever was never stale."""
    logging.getLogger().setLevel(logging.CRITICAL)
    unit, station, go_on = _unit("left", "teaching_handle"), load_station("twin"), threading.Event()
    with redirected(Network(emulated_leader(unit, station, "left"))):
        leader = YamLeaders({"left": unit}, station, MonotonicClock())
        leader.open()
        robot = leader._robots["left"]
        try:
            assert _advanced(leader, time.monotonic_ns()).arms == ("left",)
            if thread == "joints":
                robot._command_lock.acquire()
            else:
                robot.motor_chain._rate_recorder.track = lambda: go_on.wait(PATIENCE_S)
            assert until(lambda: time.monotonic_ns() - leader.read(None).stamp_ns > 0.2e9)
        finally:
            go_on.set()
            if thread == "joints":
                robot._command_lock.release()
            leader.close()


def _advanced(leader: YamLeaders, since_ns: int) -> LeaderSample:
    """The first sample that is news after that moment, however busy the machine is."""
    end = time.monotonic() + PATIENCE_S
    while (sample := leader.read(None)).stamp_ns <= since_ns:
        assert time.monotonic() < end
        time.sleep(0.01)
    return sample


def test_a_handle_that_does_not_answer_is_refused_with_bus_and_0x50e() -> None:
    """B32 (a): the left leader's handle encoder, id 1294, was silent; the error was a number in decimal."""
    unit = _unit("left", "teaching_handle")
    wire = emulated_leader(unit, STATION, "left")
    wire.handle = False
    with redirected(Network(wire)), pytest.raises(RigError, match="0x50E") as refused:
        YamLeaders({"left": unit}, STATION, MonotonicClock()).open()
    assert "can_lead_l" in str(refused.value)
