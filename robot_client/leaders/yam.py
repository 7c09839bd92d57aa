"""Leader arms with motors and a handle (i2rt's YAM with its teaching handle), through i2rt's driver.

In the hand the motors only carry the arm's weight. At a takeover they take the leader to the follower, slowly. They
have no brakes either: when this process ends, i2rt's threads end with it and the motors let go by their own 400 ms
timeout, so a leader sinks onto its rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import can
import numpy as np
from i2rt.robots.get_robot import get_yam_robot
from i2rt.robots.motor_chain_robot import MotorChainRobot
from i2rt.robots.utils import ArmType, GripperType
from numpy.typing import NDArray

from contract.arms import LeaderUnit
from contract.errors import RigError
from contract.layout import SIZE, Arm, arm_of
from contract.station import Station
from robot_client.clock import NS_PER_S, Clock
from robot_client.leaders.advance import Advance
from robot_client.leaders.units import leader_units
from robot_client.teleop.calibrated import CalibratedArm
from robot_client.teleop.sample import LeaderGoal, LeaderSample
from robot_client.teleop.turns import nearest_turn

_COMING_RAD_S: Final = 0.4
_LONGEST_S: Final = 0.05
_JOIN_S: Final = 2.0


class YamLeaders:
    """A `LeaderDevice` over one leader per arm."""

    def __init__(self, units: Mapping[Arm, LeaderUnit], station: Station, clock: Clock) -> None:
        self._units, self._clock = units, clock
        self._calibrated = {
            arm: CalibratedArm(getattr(station.teleop, arm), getattr(station.safety, arm)) for arm in units
        }
        self._robots: dict[Arm, MotorChainRobot] = {}
        self._commanded: dict[Arm, NDArray[np.float64]] = {}
        self._advance = Advance()
        self._read_ns = 0

    def open(self) -> None:
        """Motors on, weight carried. Takes some seconds. Raises `RigError` naming bus and part."""
        for arm, unit in self._units.items():
            try:
                robot = get_yam_robot(
                    channel=unit.channel,
                    arm_type=ArmType.YAM,
                    gripper_type=GripperType.YAM_TEACHING_HANDLE,
                    zero_gravity_mode=True,
                    enable_auto_recovery=False,
                )
            except (RuntimeError, AssertionError, ValueError, OSError, can.CanError) as error:
                self.close()
                raise RigError(
                    f"{arm} leader, bus {unit.channel}",
                    expected="motors 1 to 6 and the handle's encoder (0x50E)",
                    got=error,
                    remedy="run yam-robot doctor; or choose one arm",
                ) from error
            Path(robot.xml_path).unlink(missing_ok=True)
            self._robots[arm] = robot

    def read(self, goal: LeaderGoal | None) -> LeaderSample:
        now_ns = self._clock.now_ns()
        elapsed_s = min((now_ns - self._read_ns) / NS_PER_S, _LONGEST_S)
        values, buttons, troubles, stamps = np.full(SIZE, np.nan), 0, [], [now_ns]
        for arm, robot in self._robots.items():
            if not robot.motor_chain.running:
                troubles.append(f"the motor thread of the {arm} leader on {self._units[arm].channel} has ended")
                continue
            raw = np.array(robot.get_joint_pos(), np.float64)
            handles = robot.motor_chain.get_same_bus_device_states()
            # Motors and handle are read by one thread, joints handed on by another one.
            for part, reading in enumerate((robot.motor_chain.state, handles, robot._joint_state)):
                stamps.append(self._advance.since_ns((arm, part), reading, now_ns))
            (handle,) = handles
            buttons |= int(bool(handle.io_inputs[0])) | int(bool(handle.io_inputs[1])) << 1
            taken = self._calibrated[arm].values(raw, float(handle.position), now_ns)
            if taken is not None:
                arm_of(values, arm)[:] = taken
            self._come(arm, robot, raw, goal, elapsed_s)
        self._read_ns = now_ns
        return LeaderSample(values, min(stamps), bool(buttons & 1), not buttons & 2, "; ".join(troubles))

    def close(self) -> None:
        """Stop i2rt's threads; the motors let go by themselves."""
        for robot in self._robots.values():
            robot._stop_event.set()
            robot.motor_chain.running = False
            robot._server_thread.join(_JOIN_S)
        self._robots = {}

    def _come(
        self, arm: Arm, robot: MotorChainRobot, raw: NDArray[np.float64], goal: LeaderGoal | None, elapsed_s: float
    ) -> None:
        """A step of the way to the follower, or free."""
        if goal is None or goal.free:
            if self._commanded.pop(arm, None) is not None:
                robot.enter_gravity_comp_idle()
            return
        here = self._commanded.get(arm, raw)
        there = nearest_turn(self._calibrated[arm].raw(arm_of(goal.pose, arm)), raw)
        if not np.isfinite(there).all():
            return
        step = _COMING_RAD_S * elapsed_s
        self._commanded[arm] = here + np.clip(there - here, -step, step)
        robot.command_joint_pos(self._commanded[arm].copy())


def make_yam(station: Station, clock: Clock) -> YamLeaders:
    """Unopened. Raises `ConfigurationError` when the station has none."""
    return YamLeaders(leader_units(station, "teaching_handle"), station, clock)
