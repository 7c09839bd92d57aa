"""i2rt's driver, unmodified, on emulated motors. Real threads; every wait has an end."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from i2rt.robots.get_robot import get_yam_robot
from i2rt.robots.motor_chain_robot import MotorChainRobot

from robot_client.emulator.arm import EmulatedArm
from robot_client.emulator.bus import Wire
from robot_client.emulator.clock import ScheduledClock
from robot_client.emulator.network import Network, redirected
from tests.waiting import until

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
RAISED = np.array([0.4, 1.0, 1.0, 0.0, 0.0, 0.0, 0.5])


@pytest.fixture
def wire() -> Wire:
    return Wire("can_left", EmulatedArm(ScheduledClock(time.monotonic_ns).now_ns))


@pytest.fixture
def robot(wire: Wire) -> Iterator[MotorChainRobot]:
    logging.getLogger().setLevel(logging.CRITICAL)
    with redirected(Network(wire)):
        robot = get_yam_robot("can_left", gripper_limits_override=np.array([0.0, -5.5]))
        Path(robot.xml_path).unlink()
        robot.command_joint_pos(RAISED.copy())
        assert until(lambda: bool(np.abs(robot.get_joint_pos() - RAISED).max() < 0.06))
        yield robot
        robot._stop_event.set()
        robot.motor_chain.running = False
        robot._server_thread.join(5.0)


def test_when_the_drivers_thread_stops_the_arm_falls(robot: MotorChainRobot, wire: Wire) -> None:
    """B14: the motors' own timeout is the last thing between a dead driver and the table; it lets go, it does not
    hold. With the thread alive the arm stays, whatever else has died."""
    raised = wire.arm.joints()
    robot.motor_chain.running = False
    assert until(lambda: not any(wire.arm.powered()))
    assert until(lambda: bool(np.abs(wire.arm.joints() - raised)[:6].max() > 0.5))


def test_one_nan_ends_the_drivers_thread(robot: MotorChainRobot, wire: Wire) -> None:
    """The hardware truth that the holder must keep from ever happening: one NaN drops one arm."""
    robot.command_joint_pos(np.array([np.nan, 1.0, 1.0, 0.0, 0.0, 0.0, 0.5]))
    assert until(lambda: not robot.motor_chain.running)
    assert until(lambda: not any(wire.arm.powered()))


def test_a_motor_of_the_wrong_type_is_refused_before_torque() -> None:
    """B32: a DM4340 where the configuration says DM4310."""
    kinds = ("DM4340",) * 4 + ("DM4310",) * 3
    wire = Wire("can_left", EmulatedArm(ScheduledClock(time.monotonic_ns).now_ns, kinds=kinds))
    with redirected(Network(wire)), pytest.raises(RuntimeError, match=r"motor 4 reported Gr 40.*DM4340"):
        get_yam_robot("can_left", gripper_limits_override=np.array([0.0, -5.5]))
    assert not any(wire.arm.powered())
