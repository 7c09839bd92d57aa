"""The driver of one arm on emulated motors, in this process: what it refuses, what it says, what it undoes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from contract.arms import ArmUnit
from contract.errors import RigError
from robot_client.emulator.arm import YAM_KINDS, EmulatedArm
from robot_client.emulator.bus import Wire
from robot_client.emulator.clock import ScheduledClock
from robot_client.emulator.network import Network, redirected
from robot_client.emulator.registers import CTRL_MODE, TIMEOUT
from robot_client.rigs.yam_driver import YamDriver
from tests.robot_client.holder.arms import RAISED
from tests.waiting import until

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


def unit(limits: tuple[float, float] = (0.0, -5.5), kinds: tuple[str, ...] = YAM_KINDS) -> ArmUnit:
    return ArmUnit.model_validate(
        {
            "channel": "can_left",
            "arm": "yam",
            "gripper": "linear_4310",
            "motor_types": kinds,
            "gripper_limits_rad": limits,
        }
    )


def wire(limits: tuple[float, float] = (0.0, -5.5), offset_rad: float = 0.0, share: float = 0.5) -> Wire:
    closed, opened = limits
    stops = min(limits) - 0.1, max(limits) + 0.1
    start = (0.0,) * 6 + (closed + share * (opened - closed),)
    offsets = (0.0,) * 6 + (offset_rad,)
    return Wire("can_left", EmulatedArm(ScheduledClock(time.monotonic_ns).now_ns, start, YAM_KINDS, stops, offsets))


@contextmanager
def opened(at: Wire, limits: tuple[float, float] = (0.0, -5.5)) -> Iterator[YamDriver]:
    logging.getLogger().setLevel(logging.CRITICAL)
    driver = YamDriver(unit(limits), "left")
    with redirected(Network(at)):
        driver.open()
        try:
            yield driver
        finally:
            at.release()
            driver.power_off()


def move(driver: YamDriver, target: np.ndarray, steps: int = 40) -> None:
    """In steps that a real arm could follow."""
    start = driver.read().positions
    for step in range(1, steps + 1):
        driver.command(start + step / steps * (target - start))
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("limits", "turns", "start"),
    [((0.0, 5.5), 0, 0.5), ((0.0, -5.5), 0, 0.8), ((0.0, -5.5), 1, 0.5), ((0.0, 5.5), -1, 0.7)],
    ids=["rising", "mirrored, beyond half a turn", "mirrored, a turn off", "rising, a turn off"],
)
def test_the_gripper_goes_where_it_is_sent_and_reads_what_it_was_sent(
    limits: tuple[float, float], turns: int, start: float
) -> None:
    """B25, B27: rising and mirrored limits, and an encoder that came up a turn off: sent, true and read agree. A
    gripper beyond half a turn is shifted by the driver as if it were a joint; that is undone."""
    at = wire(limits, turns * 2 * np.pi, start)
    with opened(at, limits) as driver:
        assert driver.read().positions[6] == pytest.approx(start, abs=0.02)
        for share in (0.25, 0.0, 1.0):
            move(driver, np.append(np.zeros(6), share), steps=8)
            true_rad = limits[0] + share * (limits[1] - limits[0])
            assert until(lambda true_rad=true_rad: abs(at.arm.joints()[6] - true_rad) < 0.02)
            assert until(lambda share=share: abs(driver.read().positions[6] - share) < 0.005)


def test_what_is_not_finite_never_reaches_the_driver_and_the_arm_stays() -> None:
    with opened(wire()) as driver:
        for bad in (np.full(7, np.nan), np.append(np.zeros(6), np.inf), np.zeros(6), np.zeros((7, 1))):
            with pytest.raises(RigError, match="7 finite values"):
                driver.command(bad)
        time.sleep(0.05)
        assert driver.death() == ""


def test_nothing_of_the_callers_array_is_kept_or_changed() -> None:
    with opened(wire()) as driver:
        target = driver.read().positions
        target[1] = -3.0  # the driver's own clip writes into what it is given
        kept = target.copy()
        driver.command(target)
        assert np.array_equal(target, kept)
        target[:] = np.nan
        time.sleep(0.1)
        assert driver.death() == ""


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (lambda at: at.arm.fail(4, 0xB), ("motor 4 (0x04)", "0xB", "MOSFET")),
        (lambda at: at.arm.fail(2, 0x5), ("motor 2 (0x02)", "0x5", "not in the manual")),
        (lambda at: setattr(at.arm.motors[5], "silent", True), ("motor 6 (0x06)", "does not answer")),
        (lambda at: setattr(at, "bus_off", True), ("motor", "does not answer")),
        (lambda at: setattr(at, "stuck", True), ("motor", "does not answer")),
    ],
    ids=["over temperature", "unknown code", "silent motor", "bus off", "transmit queue full"],
)
def test_a_dead_motor_thread_says_bus_motor_and_error(fault: Callable[[Wire], None], words: tuple[str, ...]) -> None:
    """B30: error codes in words, unknown ones too; a silent motor, bus-off and a full transmit queue are named, and
    when the wire is back nothing bursts out and moves the arm."""
    at = wire()
    with opened(at) as driver:
        move(driver, RAISED, steps=15)
        assert driver.death() == ""
        fault(at)
        assert until(lambda: driver.death() != "")
        death = driver.death()
        assert all(word in death for word in ("can_left", *words)), death
        assert until(lambda: not any(at.arm.powered()))
        commands = [motor.commands for motor in at.arm.motors]
        at.release()
        time.sleep(0.1)
        assert [motor.commands for motor in at.arm.motors] == commands
        assert not any(at.arm.powered())


def test_no_buffer_space_for_ten_sends_is_bounded_retries_and_not_a_death() -> None:
    """B30: the error comes at once despite any timeout; the driver tries again, the arm stays up."""
    at = wire()
    with opened(at) as driver:
        at.refuse_sends = 10
        assert until(lambda: at.refuse_sends == 0)
        number = driver.read().number
        assert until(lambda: driver.read().number > number)
        assert driver.death() == ""


def test_no_buffer_space_for_twenty_sends_is_a_death_that_is_named() -> None:
    """B30: 15 tries are the driver's bound; beyond it the arm is falling and said to be."""
    at = wire()
    with opened(at) as driver:
        at.refuse_sends = 20
        assert until(lambda: driver.death() != "")
        assert "does not answer" in driver.death()


def _refused(
    at: Wire, match: str, limits: tuple[float, float] = (0.0, -5.5), kinds: tuple[str, ...] = YAM_KINDS
) -> None:
    with redirected(Network(at)), pytest.raises(RigError, match=match):
        YamDriver(unit(limits, kinds), "left").open()
    assert not any(at.arm.powered())
    assert all(not motor.registers.writes for motor in at.arm.motors)


@pytest.mark.parametrize("counts", [0, 160_000])
def test_motors_without_their_400_ms_timeout_are_refused(counts: int) -> None:
    """B14: with the timeout off a stalled driver would hold torque for ever."""
    at = wire()
    at.arm.motors[2].registers.values[TIMEOUT] = counts
    _refused(at, r"left arm, bus can_left, motor 3: register TIMEOUT: expected 8000 \(400 ms\).*set_timeout")


def test_a_missing_bus_is_refused_with_the_command_that_brings_it_up() -> None:
    """B32 (b)."""
    at = wire()
    at.missing = True
    _refused(at, r"left arm: bus can_left.*ip link set can_left up")


def test_a_motor_that_is_silent_is_named() -> None:
    """B32 (a): bus and id, in decimal and as it is on the wire."""
    at = wire()
    at.arm.motors[6].silent = True
    _refused(at, r"left arm, bus can_left, motor 7 \(0x07\): expected an answer, got silence")


def test_a_station_that_names_other_motors_than_the_driver_encodes_for_is_refused() -> None:
    """B32: the wrong arm variant."""
    kinds = ("DM4340",) * 4 + ("DM4310",) * 3
    _refused(wire(), r"motor_types of the left arm.*DM4310.*got DM4340, DM4340, DM4340, DM4340", kinds=kinds)


def test_a_motor_with_another_gear_than_its_type_is_refused() -> None:
    """B32: the wrong part behind the right id."""
    at = wire()
    at.arm.motors[3].registers.values[20] = 40.0
    _refused(at, r"motor 4 reported Gr 40.*DM4340")


def test_a_gripper_in_an_unknown_turn_fails_the_start_and_leaves_the_motors_off() -> None:
    """B29, B27: torque was on when it was found out; it is off again, and no thread goes on re-sending."""
    at = Wire(
        "can_left", EmulatedArm(ScheduledClock(time.monotonic_ns).now_ns, (0.0,) * 6 + (-0.1,), YAM_KINDS, (-6.7, 0.1))
    )
    with redirected(Network(at)), pytest.raises(RigError, match=r"2 that fit.*motors are off again"):
        YamDriver(unit((0.0, -6.57)), "left").open()
    assert not any(at.arm.powered())
    before = at.exchanges
    time.sleep(0.1)
    assert at.exchanges == before


def test_a_joint_beyond_its_limit_at_the_start_leaves_the_motors_off() -> None:
    """B29: the driver raises after it has turned the motors on."""
    at = wire()
    at.arm._offset[1] = -0.5
    _refused(at, r"limit violation.*motors are off again")


def test_a_motor_in_another_control_mode_is_repaired_by_the_driver_and_only_that() -> None:
    at = wire()
    at.arm.motors[0].registers.values[CTRL_MODE] = 2
    with opened(at):
        assert at.arm.motors[0].registers.writes == [(CTRL_MODE, 1)]
        assert all(not motor.registers.writes for motor in at.arm.motors[1:])


def test_power_off_ends_both_threads_before_it_tells_the_motors() -> None:
    at = wire()
    with opened(at) as driver:
        assert all(at.arm.powered())
        driver.power_off()
        assert not any(at.arm.powered())
        assert not any(thread.is_alive() for thread in driver._threads)
