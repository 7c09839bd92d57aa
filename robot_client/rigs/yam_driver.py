"""One real arm through i2rt's driver. The only file that commands it.

What its source says, and what this file does about it: one NaN ends its thread, and its clip writes into the caller's
array, so only fresh finite arrays go in; it re-sends the last command for ever, so a hold needs nothing; any motor
error ends its thread without saying where, so its last words are kept; its close() leaves the motors without telling
them, so they are told.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Final

import can
import numpy as np
from i2rt.motor_drivers.dm_driver import DMChainCanInterface
from i2rt.motor_drivers.utils import MotorErrorCode
from i2rt.robots.get_robot import get_yam_robot
from i2rt.robots.motor_chain_robot import MotorChainRobot
from i2rt.robots.utils import ArmType, GripperType
from numpy.typing import NDArray

from contract.arms import ArmUnit
from contract.errors import RigError
from contract.layout import ARM_SIZE, JOINTS_PER_ARM
from robot_client.holder.driver import ArmReading
from robot_client.holder.gripper import TURN_RAD, checked_gripper
from robot_client.holder.motor_errors import in_words
from robot_client.rigs.yam_preflight import check_motors, motors_off

_JOIN_S: Final = 2.0
_WORDS_S: Final = 0.02
"""A thread that ends has said why by then."""
_MOTOR_ERROR: Final = re.compile(r"motor id: (\d+), error: (.+)")
_SILENT: Final = re.compile(r"fail to communicate with the motor (\d+)")
_CODES: Final = {text: code for code, text in MotorErrorCode.motor_error_code_dict.items()}


class YamDriver:
    """An `ArmDriver`. `arm` is its name in messages."""

    def __init__(self, unit: ArmUnit, arm: str) -> None:
        self._unit, self._arm = unit, arm
        self._gripper = checked_gripper(unit.gripper_limits_rad, unit.gripper, arm)
        self._threads: list[threading.Thread] = []
        self._last_words: dict[threading.Thread, str] = {}
        self._seen: object = None
        self._number = 0

    def open(self) -> None:
        """Motors and their timeout checked, torque on, the measured pose held. Takes about two seconds."""
        check_motors(self._unit, self._arm)
        self._listen()
        before = set(threading.enumerate())
        try:
            self._robot = self._brought_up()
            self._threads = [thread for thread in threading.enumerate() if thread not in before]
            self._chain: DMChainCanInterface = self._robot.motor_chain
            self._settle_gripper()
            self.command(self.read().positions)
        except (RuntimeError, AssertionError, ValueError, OSError, can.CanError, RigError) as error:
            self._abandon(set(threading.enumerate()) - before)
            raise RigError(
                f"{self._arm} arm on {self._unit.channel}",
                expected="seven motors that start",
                got=f"{error}; its motors are off again",
                remedy="run yam-robot doctor",
            ) from error

    def read(self) -> ArmReading:
        """The newest feedback, in arrays of its own."""
        feedback = self._chain.state
        if feedback is not self._seen:
            self._seen = feedback
            self._number += 1
        motors = self._chain.read_states()
        positions = np.array([motor.pos for motor in motors], np.float64)
        velocities = np.array([motor.vel for motor in motors], np.float64)
        positions[JOINTS_PER_ARM] = self._gripper.to_share(float(positions[JOINTS_PER_ARM]))
        velocities[JOINTS_PER_ARM] /= self._gripper.open_rad - self._gripper.closed_rad
        return ArmReading(
            positions,
            velocities,
            np.array([motor.eff for motor in motors], np.float64),
            np.array([motor.temp_mos for motor in motors], np.float64),
            np.array([motor.temp_rotor for motor in motors], np.float64),
            self._number,
        )

    def command(self, target: NDArray) -> None:
        """Raises `RigError` on anything but (7,) finite values, and then nothing has reached the driver."""
        values = np.array(target, np.float64)
        if values.shape != (ARM_SIZE,) or not np.isfinite(values).all():
            raise RigError(f"target of the {self._arm} arm", expected=f"{ARM_SIZE} finite values", got=values)
        values[JOINTS_PER_ARM] = min(max(values[JOINTS_PER_ARM], 0.0), 1.0)
        self._robot.command_joint_pos(values)

    def relax(self) -> None:
        """Gravity compensation with a little damping."""
        self._robot.enter_gravity_comp_idle()

    def power_off(self) -> None:
        """Both threads ended first, so that nothing speaks to the motors after they were told to let go."""
        self._robot._stop_event.set()
        self._chain.running = False
        for thread in self._threads:
            thread.join(_JOIN_S)
        self._chain.motor_interface.close()
        motors_off(self._unit)

    def _abandon(self, threads: set[threading.Thread]) -> None:
        """After a failed start: the driver gives no handle to its thread, which would go on re-sending for ever."""
        for thread in threads:
            started = getattr(getattr(thread, "_target", None), "__self__", None)
            if isinstance(started, DMChainCanInterface):
                started.running = False
            elif isinstance(started, MotorChainRobot):
                started._stop_event.set()
        for thread in threads:
            thread.join(_JOIN_S)
        motors_off(self._unit)

    def death(self) -> str:
        """The thread that speaks to the motors, in the driver's last words."""
        alive = self._chain.running and any(t.is_alive() for t in self._threads if t is not self._robot._server_thread)
        if alive:
            return ""
        for thread in self._threads:
            thread.join(_WORDS_S)
        told = [text for thread, text in self._last_words.items() if thread is not self._robot._server_thread]
        told += [text for thread, text in self._last_words.items() if thread is self._robot._server_thread]
        return self._in_words(told[0] if told else "the motor thread ended without a word")

    def deaf(self) -> str:
        """The thread that hands targets on."""
        if self._robot._server_thread.is_alive():
            return ""
        return self._last_words.get(self._robot._server_thread, "the driver's command thread ended")

    def _brought_up(self) -> MotorChainRobot:
        robot = get_yam_robot(
            channel=self._unit.channel,
            arm_type=ArmType.from_string_name(self._unit.arm),
            gripper_type=GripperType.from_string_name(self._unit.gripper),
            zero_gravity_mode=True,
            gripper_limits_override=np.array(self._unit.gripper_limits_rad),
            enable_auto_recovery=False,
        )
        Path(robot.xml_path).unlink(missing_ok=True)
        info = robot.get_robot_info()
        if info["enable_auto_recovery"] or not info["limit_gripper_effort"] > 0:
            raise RigError("i2rt's driver", expected="no automatic recovery, gripper force limited", got=info)
        return robot

    def _settle_gripper(self) -> None:
        """Undo whatever turn the gripper's encoder came up in: the driver shifts readings beyond half a turn, which
        is right for joints and wrong for a gripper that travels more than a turn."""
        motor_rad = float(self._chain.read_states()[JOINTS_PER_ARM].pos)
        turns = self._gripper.turns_off(motor_rad, self._arm)
        with self._chain.state_lock:
            self._chain.motor_offset[JOINTS_PER_ARM] -= (
                turns * TURN_RAD * float(self._chain.motor_direction[JOINTS_PER_ARM])
            )

    def _listen(self) -> None:
        earlier = threading.excepthook

        def hook(args: threading.ExceptHookArgs) -> None:
            if args.thread is not None:
                self._last_words[args.thread] = str(args.exc_value)
            if args.thread not in self._threads:
                earlier(args)

        threading.excepthook = hook

    def _in_words(self, text: str) -> str:
        place = f"bus {self._unit.channel}"
        if found := _MOTOR_ERROR.search(text):
            said = found[2].strip()
            unknown = re.search(r"(\d+)$", said)
            code = _CODES.get(said, int(unknown[1]) if unknown else 0xF)
            return f"{place}, motor {found[1]} (0x{int(found[1]):02X}): {in_words(code)}"
        if found := _SILENT.search(text):
            return f"{place}, motor {found[1]} (0x{int(found[1]):02X}) does not answer: check its cable and the power"
        return f"{place}: {text}"
