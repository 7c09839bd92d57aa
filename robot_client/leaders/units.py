"""The leaders of a station, and emulated ones in their place where the station's buses are emulated."""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import pi

from contract.arms import LeaderUnit
from contract.errors import ConfigurationError
from contract.layout import ARMS, Arm
from contract.station import Station
from robot_client.emulator.arm import EmulatedArm
from robot_client.emulator.bus import Wire
from robot_client.emulator.clock import ScheduledClock
from robot_client.emulator.encoders import EncoderBoard
from robot_client.emulator.network import Network, install
from robot_client.holder.rules import arms_of

GRIPPER_MOTOR = 7
"""A leader with a handle has no such motor."""


def leader_units(station: Station, kind: str) -> dict[Arm, LeaderUnit]:
    """Leaders of one kind by arm. Raises `ConfigurationError` when there is none; installs emulated buses if asked."""
    arms = arms_of(station)
    found = {arm: unit for arm in ARMS if arms.leaders is not None and (unit := getattr(arms.leaders, arm)) is not None}
    units = {arm: unit for arm, unit in found.items() if unit.kind == kind}
    if not units:
        raise ConfigurationError(
            "leader",
            expected=f'a section [arms.leaders.left] or [arms.leaders.right] of kind "{kind}"',
            got=", ".join(f"{arm}: {unit.kind}" for arm, unit in found.items()) or "none",
            remedy="add it to the station file",
        )
    if arms.bus == "emulated":
        install(Network(*(emulated_leader(unit, station, arm) for arm, unit in units.items())))
    return units


def emulated_leader(unit: LeaderUnit, station: Station, arm: Arm) -> Wire:
    """A leader that nobody moves: with motors it hangs at rest, without it shows the station's home pose."""
    motors = EmulatedArm(ScheduledClock(time.monotonic_ns).now_ns)
    wire = Wire(unit.channel, motors, handle=True)
    if unit.kind == "encoders":
        for motor in motors.motors:
            motor.silent = True
        wire.encoders = EncoderBoard(_home(station, arm))
    else:
        motors.motors[GRIPPER_MOTOR - 1].silent = True
    return wire


def _home(station: Station, arm: Arm) -> Mapping[int, float]:
    calibration, pose = getattr(station.teleop, arm), station.poses.home
    joints = pose.left_rad if arm == "left" else pose.right_rad
    raw = [
        sign * (joint - offset)
        for sign, joint, offset in zip(calibration.signs, joints, calibration.offsets_rad, strict=True)
    ]
    opened = calibration.gripper_closed_open[1]
    return dict(zip(calibration.devices, [(angle + pi) % (2 * pi) - pi for angle in raw] + [opened], strict=True))
