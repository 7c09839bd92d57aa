"""Motors and handle encoders on each bus against what the station says is there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import can
from i2rt.motor_config_tool.utils import RawCanInterface

from contract.arms import ArmUnit, LeaderUnit
from contract.layout import ARM_SIZE, JOINTS_PER_ARM
from robot_client.doctor import probe
from robot_client.doctor.lines import Line, fail, ok, warn
from robot_client.rigs.yam_preflight import TIMEOUT_COUNTS, driver_motors

_POWER = "check power, emergency stop and cable, and that nothing else uses the bus"


def check_motors(units: Mapping[str, ArmUnit | LeaderUnit]) -> Iterator[Line]:
    """Of buses that are up and that no holder uses."""
    for name, unit in units.items():
        try:
            with probe.open_bus(unit.channel) as bus:
                if isinstance(unit, ArmUnit):
                    yield from _check_arm(name, unit, bus)
                else:
                    yield from _check_leader(name, unit, bus)
        except (OSError, can.CanError) as error:
            yield fail(f"{name}, bus {unit.channel}", f"cannot be opened: {error}", _POWER)


def _check_arm(name: str, unit: ArmUnit, bus: RawCanInterface) -> Iterator[Line]:
    what = f"{name}, motors on {unit.channel}"
    expected = driver_motors(unit)
    if expected != unit.motor_types:
        found = f"the station says {_list(unit.motor_types)}, a {unit.arm} with {unit.gripper} has {_list(expected)}"
        yield fail(f"{name}, motor_types", found, "correct arm, gripper or motor_types in the station file")
        return
    silent = [number for number in range(1, ARM_SIZE + 1) if probe.read(bus, number, "Gr") is None]
    if silent == [ARM_SIZE] and probe.handle_answers(bus):
        found = f"wrong device: a leader with a handle (0x{probe.HANDLE_ID:X}) answers here, not a follower"
        yield fail(what, found, "exchange the cables of leader and follower")
    elif silent:
        yield fail(what, f"{_ids(silent)} silent", _POWER)
    else:
        faults = [fault for number, kind in enumerate(expected, 1) for fault in _faults(bus, number, kind)]
        yield from (fail(what, found, action) for found, action in faults)
        if not faults:
            yield ok(what, f"{_list(expected)}; 400 ms timeout, scales and gears as the driver needs them")


def _check_leader(name: str, unit: LeaderUnit, bus: RawCanInterface) -> Iterator[Line]:
    what = f"{name}, bus {unit.channel}"
    wanted = JOINTS_PER_ARM if unit.kind == "teaching_handle" else 0
    answering = [number for number in range(1, ARM_SIZE + 1) if probe.read(bus, number, "Gr") is not None]
    strangers = [number for number in answering if number > wanted]
    missing = [number for number in range(1, wanted + 1) if number not in answering]
    if strangers:
        found = f"wrong device: {_ids(strangers)} answer, which a leader of kind {unit.kind} does not have"
        yield fail(what, found, "exchange the cables of leader and follower, or correct kind")
    if missing:
        yield fail(what, f"{_ids(missing)} silent", _POWER)
    if not probe.handle_answers(bus):
        found = f"no handle encoder (0x{probe.HANDLE_ID:X}) answers on {unit.channel}"
        yield fail(what, found, "check the handle's cable; or work with one arm: yam-robot doctor --arm")
    elif not (strangers or missing):
        yield ok(what, f"leader of kind {unit.kind} answers, with its handle (0x{probe.HANDLE_ID:X})")


def _faults(bus: RawCanInterface, number: int, kind: str) -> Iterator[tuple[str, str]]:
    motor = f"motor {number} (0x{number:02X})"
    for register, wanted in probe.expected_registers(kind).items():
        value = probe.read(bus, number, register)
        if value is None:
            yield f"{motor}: register {register} not answered", _POWER
        elif not math.isclose(value, wanted, rel_tol=1e-6):
            looks = " or ".join(probe.kinds_with_gear(float(value))) if register == "Gr" else ""
            found = f"{motor}: {register} is {value:g}" + (f", a {looks}" if looks else "")
            yield f"{found}, expected {wanted:g} of a {kind}", "another motor is fitted, or its registers were changed"
    timeout = probe.read(bus, number, "TIMEOUT")
    if timeout != TIMEOUT_COUNTS:
        yield f"{motor}: TIMEOUT is {timeout}, expected {TIMEOUT_COUNTS} (400 ms)", "i2rt's set_timeout.py --timeout"


def held_line(name: str, channel: str, pid: int) -> Line:
    """For a bus whose registers cannot be read now: parameter answers need an idle bus."""
    action = "yam-robot arms power-off first, to look at the motors one by one"
    return warn(f"{name}, motors on {channel}", f"not read: process {pid} holds this arm", action)


def _ids(numbers: Sequence[int]) -> str:
    return ", ".join(f"motor {number} (0x{number:02X})" for number in numbers)


def _list(kinds: Sequence[str]) -> str:
    return ", ".join(kinds)
