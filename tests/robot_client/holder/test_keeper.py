"""What a holder decides, on a fake clock and an arm without a driver."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.errors import StationError
from contract.station import load_station
from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.holder.keeper import Keeper
from robot_client.holder.messages import Hold, Order
from robot_client.holder.rules import rules_of
from robot_client.rigs.base import Stop
from tests.robot_client.holder.fake_arm import FakeArm

STATION = load_station("yam_example")
RULES = rules_of(STATION, "left")
SPEED_RAD_S = np.array(STATION.safety.left.speed_rad_s)
REST = np.append(RULES.rest, 0.0)
RAISED = np.array([0.0, 1.05, 1.05, 0.0, 0.0, 0.0, 0.5])
ME = 4711


class Bench:
    """`follow` gives a target like a healthy client; time moves 5 ms a step."""

    def __init__(self, start: np.ndarray = RAISED) -> None:
        self.clock, self.arm = FakeClock(NS_PER_S), FakeArm(start)
        self.keeper = Keeper(self.clock, self.arm, RULES)
        self.sequence = 0

    def order(self, order: Order) -> None:
        self.sequence += 1
        self.keeper.take(order, self.sequence)

    def follow(self, target: np.ndarray, seen: int | None = None, client: int = ME) -> Hold:
        holds = self.keeper.state.holds if seen is None else seen
        self.order(Order(None, np.array(target, float), client, holds))
        return self.step()

    def stop(self, how: Stop, confirmed: bool = False) -> Hold:
        self.order(Order(how, np.zeros(7), ME, self.keeper.state.holds, confirmed))
        return self.step()

    def step(self, ms: float = 5.0) -> Hold:
        self.clock.advance(int(ms * NS_PER_MS))
        return self.keeper.tick().hold


def test_a_fresh_holder_holds_where_the_arm_is() -> None:
    bench = Bench()
    assert bench.step() is Hold.HOLDING
    assert np.array_equal(bench.keeper.state.held, RAISED)


def test_a_client_is_followed_and_its_target_is_what_is_held() -> None:
    bench = Bench()
    assert bench.follow(RAISED + 0.04) is Hold.FOLLOWING
    assert np.allclose(bench.keeper.state.held, RAISED + 0.04)
    assert bench.keeper.state.client == ME


def test_a_client_100_ms_late_is_held_at_its_last_target_with_torque() -> None:
    """B14: the commander died; the arm driver's side holds within the watchdog time, by its own clock."""
    bench = Bench()
    bench.follow(RAISED + 0.04)
    assert bench.step(94) is Hold.FOLLOWING
    assert bench.step(2) is Hold.HOLDING
    assert np.allclose(bench.keeper.state.held, RAISED + 0.04)
    assert str(ME) in bench.keeper.state.reason and "late" in bench.keeper.state.reason
    assert "relax" not in bench.arm.told and "power_off" not in bench.arm.told


def test_a_client_that_comes_back_moves_nothing_until_it_has_seen_that_it_was_held() -> None:
    """B14: the commander is back after a stall; no motion until the documented resume."""
    bench = Bench()
    bench.follow(RAISED)
    bench.step(500)
    calls = len(bench.arm.calls)
    for _ in range(50):
        assert bench.follow(RAISED + 0.04, seen=0) is Hold.HOLDING
    assert len(bench.arm.calls) == calls
    assert bench.keeper.state.refused == 50
    assert bench.follow(RAISED, seen=1) is Hold.FOLLOWING


def test_the_heartbeat_counts_only_with_new_orders_and_not_with_time_stamps() -> None:
    bench = Bench()
    for _ in range(40):
        assert bench.follow(RAISED) is Hold.FOLLOWING
    for _ in range(21):
        state = bench.step()
    assert state is Hold.HOLDING


def test_a_watchdog_of_zero_negative_nan_or_longer_than_the_motors_own_is_refused() -> None:
    """B14: watchdog values that would not watch."""
    text = (Path(__file__).parents[3] / "calibration/stations/yam_example.toml").read_text()
    for value in ("0.0", "-100.0", "nan", "inf", "400.0", "true", '"100"'):
        with pytest.raises(StationError, match="heartbeat_ms"):
            _station(text.replace("heartbeat_ms = 100.0", f"heartbeat_ms = {value}"))


def _station(text: str) -> object:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "station.toml"
        path.write_text(text)
        return load_station(str(path))


@given(
    bad=st.sampled_from((np.nan, np.inf, -np.inf, 1e300)),
    joint=st.integers(0, 6),
)
@settings(max_examples=40, deadline=None)
def test_no_value_that_is_not_finite_or_far_off_reaches_the_driver(bad: float, joint: int) -> None:
    bench = Bench()
    bench.follow(RAISED)
    target = RAISED.copy()
    target[joint] = bad
    bench.follow(target)
    commanded = [values for name, values in bench.arm.calls if name == "command"]
    assert len(commanded) == (2 if joint == 6 and np.isfinite(bad) else 1)
    assert np.isfinite(bench.keeper.state.held).all()


@given(targets=st.lists(st.lists(st.floats(-4, 4), min_size=7, max_size=7), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_whatever_is_asked_the_arm_is_never_sent_far_in_one_step_or_beyond_its_limits(
    targets: list[list[float]],
) -> None:
    bench = Bench()
    at = RAISED
    for target in targets:
        bench.follow(np.array(target))
        now = bench.arm.position
        assert (np.abs(now - at)[:6] <= 0.05 * SPEED_RAD_S + 1e-9).all()
        assert (now[:6] >= RULES.lower - 0.03).all() and (now[:6] <= RULES.upper + 0.03).all()
        assert 0.0 <= now[6] <= 1.0
        at = now


def test_a_refused_target_holds_the_arm_and_names_the_joint() -> None:
    bench = Bench()
    bench.follow(RAISED)
    assert bench.follow(RAISED + np.array([0, 0, 0.5, 0, 0, 0, 0])) is Hold.HOLDING
    assert "joint 3" in bench.keeper.state.reason and "0.50 rad" in bench.keeper.state.reason
    assert bench.keeper.state.holds == 1


def test_the_driver_gets_an_array_of_its_own() -> None:
    """The driver's clip writes into the caller's array: what it was given must be nobody else's."""
    bench = Bench()
    target = RAISED.copy()
    bench.follow(target)
    given = bench.arm.calls[-1][1]
    assert given is not None and not np.isfinite(given).any()
    assert np.array_equal(target, RAISED) and np.array_equal(bench.keeper.state.held, RAISED)


def test_a_gripper_beyond_its_travel_is_clamped_and_counted() -> None:
    """B25: 1.2 and -0.1."""
    bench = Bench()
    for share, got in ((1.2, 1.0), (-0.1, 0.0), (0.25, 0.25)):
        bench.follow(np.append(RAISED[:6], share))
        assert bench.keeper.state.held[6] == got
    assert bench.keeper.state.clipped == 2


def test_an_arm_that_lies_outside_its_soft_limits_may_come_in_and_not_go_out() -> None:
    start = RAISED.copy()
    start[3] = RULES.lower[3] - 0.06
    bench = Bench(start)
    assert bench.follow(start) is Hold.FOLLOWING
    assert bench.follow(start + np.array([0, 0, 0, 0.05, 0, 0, 0])) is Hold.FOLLOWING
    assert bench.follow(start - np.array([0, 0, 0, 0.1, 0, 0, 0])) is Hold.HOLDING


def test_a_dead_motor_thread_is_falling_at_the_next_look_and_stays_so() -> None:
    """B30: named, with the motor and the error in words; nothing that a client says makes it held again."""
    bench = Bench()
    bench.follow(RAISED)
    bench.arm.dead = "bus can_left, motor 7 (0x07): error 0xD, communication lost"
    assert bench.step(4) is Hold.FALLING
    assert "left arm is not held" in bench.keeper.state.reason and "motor 7" in bench.keeper.state.reason
    assert np.isnan(bench.keeper.state.held).all()
    bench.arm.dead = ""
    assert bench.follow(RAISED) is Hold.FALLING
    assert bench.stop(Stop.HOLD) is Hold.FALLING


def test_no_feedback_for_400_ms_is_falling_even_if_the_thread_seems_alive() -> None:
    bench = Bench()
    bench.arm.feeding = False
    for _ in range(19):
        assert bench.step(20) is Hold.HOLDING
    assert bench.step(20) is Hold.FALLING


def test_a_holder_that_stood_still_itself_asks_the_driver_again_before_it_says_that_the_arm_falls() -> None:
    bench = Bench()
    bench.arm.feeding = False
    assert bench.step(5000) is Hold.HOLDING
    bench.arm.feeding = True
    assert bench.step(5) is Hold.HOLDING


def test_a_holder_that_stood_still_does_not_jump_to_where_its_client_has_got_meanwhile() -> None:
    """A holder that was not scheduled for 0.3 s took one step of up to 0.3 rad to the newest target when it woke. Steps
    are those of any other time; a client that is further on has to come back to where the arm is held."""
    bench = Bench()
    bench.follow(RAISED)
    way = np.append(0.1 * SPEED_RAD_S, 0.0)  # what a loop tells in 0.1 s before it notices that the joints are old
    bench.clock.advance(300 * NS_PER_MS)
    assert bench.follow(RAISED - way) is Hold.HOLDING
    assert np.array_equal(bench.arm.position, RAISED) and "in one step" in bench.keeper.state.reason
    assert bench.follow(RAISED - way, seen=0) is Hold.HOLDING, "not before the client has seen it"
    for share in np.linspace(0.05, 1.0, 20):
        assert bench.follow(RAISED - share * way) is Hold.FOLLOWING
    assert np.array_equal(bench.arm.position, RAISED - way)


def test_the_largest_step_leaves_room_for_the_loop_of_the_station_however_slow() -> None:
    slow = STATION.model_copy(update={"timing": STATION.timing.model_copy(update={"loop_hz": 10.0})})
    rules = rules_of(slow, "left")
    assert np.allclose(rules.leap_rad, 0.2 * SPEED_RAD_S)
    # One order missed at full speed; nearly every such step was refused for rounding.
    for at in np.linspace(RULES.lower + 0.5, RULES.upper - 0.5, 50):
        assert rules.fault(np.append(at + 0.1 * SPEED_RAD_S + 0.1 * SPEED_RAD_S, 0.5), np.append(at, 0.5)) == ""
    assert np.allclose(RULES.leap_rad, 0.05 * SPEED_RAD_S)


def test_the_stamp_of_a_measurement_does_not_move_while_the_same_one_is_repeated() -> None:
    """B30: a state that is the last value repeated must not look fresh."""
    bench = Bench()
    bench.step()
    before = bench.keeper.feedback_ns
    bench.arm.feeding = False
    bench.step(50)
    assert bench.keeper.feedback_ns == before


def test_a_driver_that_no_longer_hands_targets_on_is_held_and_said_to_be_deaf() -> None:
    bench = Bench()
    bench.arm.mute = "too large torques"
    assert bench.step() is Hold.DEAF
    assert "follows no more" in bench.keeper.state.reason
    assert bench.follow(RAISED) is Hold.DEAF


@pytest.mark.parametrize("how", [Stop.RELAX, Stop.POWER_OFF])
def test_a_raised_arm_is_not_let_go_even_when_a_person_says_so(how: Stop) -> None:
    """B29: never zero torque at a raised pose."""
    bench = Bench()
    assert bench.stop(how, confirmed=True) is Hold.HOLDING
    assert "park first" in bench.keeper.state.reason
    assert "relax" not in bench.arm.told and "power_off" not in bench.arm.told


@pytest.mark.parametrize("how", [Stop.RELAX, Stop.POWER_OFF])
def test_an_arm_at_rest_is_not_let_go_without_a_persons_word(how: Stop) -> None:
    bench = Bench(REST)
    assert bench.stop(how) is Hold.HOLDING
    assert "supported" in bench.keeper.state.reason


def test_a_moving_arm_at_the_rest_pose_is_not_let_go() -> None:
    bench = Bench(REST)
    bench.arm.velocity[1] = 0.5
    bench.step()
    assert bench.stop(Stop.RELAX, confirmed=True) is Hold.HOLDING


def test_at_rest_and_confirmed_it_is_relaxed_and_taken_up_again_from_where_it_was_moved() -> None:
    bench = Bench(REST)
    assert bench.stop(Stop.RELAX, confirmed=True) is Hold.RELAXED
    assert np.isnan(bench.keeper.state.held).all()
    bench.arm.position = RAISED.copy()
    bench.step()
    assert bench.follow(REST) is Hold.RELAXED
    assert bench.follow(RAISED) is Hold.FOLLOWING


def test_hold_ends_relaxed_at_the_measured_pose() -> None:
    bench = Bench(REST)
    bench.stop(Stop.RELAX, confirmed=True)
    bench.arm.position = RAISED.copy()
    bench.step()
    assert bench.stop(Stop.HOLD) is Hold.HOLDING
    assert np.array_equal(bench.keeper.state.held, RAISED)


def test_hold_while_following_freezes_the_last_target() -> None:
    bench = Bench()
    bench.follow(RAISED + 0.04)
    assert bench.stop(Stop.HOLD) is Hold.HOLDING
    assert np.allclose(bench.keeper.state.held, RAISED + 0.04)


def test_at_rest_and_confirmed_it_is_powered_off() -> None:
    bench = Bench(REST)
    assert bench.stop(Stop.POWER_OFF, confirmed=True) is Hold.OFF
    assert bench.arm.told[-1] == "power_off"


def test_trouble_never_makes_a_held_arm_of_one_that_nobody_holds() -> None:
    """B29, B30: an order that could not be read was answered by "holding", also for a relaxed arm, and for one whose
    motors had let go for want of commands and were heard of again."""
    relaxed = Bench(REST)
    relaxed.stop(Stop.RELAX, confirmed=True)
    relaxed.keeper.interfere("trouble in the holder")
    assert relaxed.step() is Hold.RELAXED and "trouble" in relaxed.keeper.state.reason
    fallen = Bench()
    fallen.arm.feeding = False
    for _ in range(20):
        fallen.step(20)
    fallen.arm.feeding = True
    fallen.keeper.interfere("trouble in the holder")
    assert fallen.step() is Hold.FALLING and "not held" in fallen.keeper.state.reason
    following = Bench()
    following.follow(RAISED)
    following.keeper.interfere("trouble in the holder")
    assert following.step() is Hold.HOLDING and following.keeper.state.holds == 1


def test_another_client_goes_on_from_what_is_held_without_a_step() -> None:
    """Adoption: a hold taken up from the sagging pose would creep down with every change of hands."""
    bench = Bench()
    bench.follow(RAISED)
    bench.arm.position = RAISED - 0.03
    bench.step(200)
    assert np.array_equal(bench.keeper.state.held, RAISED)
    assert bench.follow(bench.keeper.state.held, client=99) is Hold.FOLLOWING
    assert bench.keeper.state.client == 99


def test_a_warm_motor_and_a_long_hold_raise_the_alarm_by_name() -> None:
    bench = Bench()
    bench.arm.rotor_c[1] = 70.0
    bench.step()
    assert "left motor 2 is at 70 C" in bench.keeper.state.alarm
    bench.arm.rotor_c[1] = 30.0
    bench.step()
    assert bench.keeper.state.alarm == ""
    bench.arm.feeding = True
    for _ in range(700):
        bench.step(1000 / 3)
        bench.step(1000 / 3)
        bench.step(1000 / 3)
    assert "held for 11 min" in bench.keeper.state.alarm
    bench.follow(RAISED)
    assert bench.keeper.state.alarm == ""
