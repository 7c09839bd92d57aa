"""The emulated arm inside a holder process, reached from outside: faults in, the truth out, by mailboxes.

ARM.faults  anybody -> emulator   JSON object, see `_FAULTS`; each letter is done once
ARM.truth   emulator -> anybody   7 joint positions, 7 times 1.0 for a motor with torque; float64
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.arms import ArmUnit
from contract.errors import RigError
from robot_client.emulator.arm import EmulatedArm
from robot_client.emulator.bus import Wire
from robot_client.emulator.clock import ScheduledClock
from robot_client.emulator.network import Network, install
from robot_client.mailbox import MailboxReader, open_writer

FAULT_BYTES: Final = 1024
TRUTH_BYTES: Final = 2 * 7 * 8
_START_SHARE: Final = 0.5


class EmulatorPort:
    """`open` puts the emulated arm in the place of the bus and returns what must be called every few milliseconds."""

    def __init__(self, folder: Path, arm: str, unit: ArmUnit) -> None:
        self._folder, self._arm, self._unit = folder, arm, unit

    def open(self) -> Callable[[], None]:
        """At rest, gripper half open."""
        closed, opened = self._unit.gripper_limits_rad
        start = (0.0,) * 6 + (closed + _START_SHARE * (opened - closed),)
        stops = min(closed, opened) - 0.1, max(closed, opened) + 0.1
        self._body = EmulatedArm(ScheduledClock(time.monotonic_ns).now_ns, start, self._unit.motor_types, stops)
        self._wire = Wire(self._unit.channel, self._body)
        install(Network(self._wire))
        self._truth = open_writer(self._folder / f"{self._arm}.truth.mail", TRUTH_BYTES)
        self._faults = MailboxReader(self._folder / f"{self._arm}.faults.mail")
        newest = self._faults.newest()
        self._done = newest.sequence if newest else 0
        return self._aside

    def _aside(self) -> None:
        letter = self._faults.newer_than(self._done)
        if letter is not None:
            self._done = letter.sequence
            apply_fault(self._wire, json.loads(letter.payload))
        truth = np.concatenate([self._body.joints(), self._body.powered()])
        self._truth.put(truth.astype("<f8").tobytes(), time.monotonic_ns())


def apply_fault(wire: Wire, fault: Mapping[str, Any]) -> None:
    """One fault by name; `RigError` listing the known ones."""
    for name, value in fault.items():
        if name not in _FAULTS:
            raise RigError("emulated fault", expected=f"one of {', '.join(_FAULTS)}", got=name)
        _FAULTS[name](wire, value)


def truth_of(payload: bytes) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Joint positions (7,) [rad] and which motors have torque (7,)."""
    values = np.frombuffer(payload, "<f8")
    return values[:7], values[7:] > 0


def _error(wire: Wire, value: Any) -> None:
    motor, code = value
    wire.arm.fail(int(motor), int(code))


def _silent(wire: Wire, value: Any) -> None:
    wire.arm.motors[int(value) - 1].silent = True


def _warm(wire: Wire, value: Any) -> None:
    motor, celsius = value
    wire.arm.motors[int(motor) - 1].rotor_c = int(celsius)


def _bus_off(wire: Wire, value: Any) -> None:
    wire.bus_off = bool(value)


def _stuck(wire: Wire, value: Any) -> None:
    if value:
        wire.stuck = True
    else:
        wire.release()


def _refuse_sends(wire: Wire, value: Any) -> None:
    wire.refuse_sends = int(value)


_FAULTS: Final[Mapping[str, Callable[[Wire, Any], None]]] = {
    "error": _error,
    "silent": _silent,
    "warm": _warm,
    "bus_off": _bus_off,
    "stuck": _stuck,
    "refuse_sends": _refuse_sends,
}
"""error [motor, code], silent motor, warm [motor, C], bus_off, stuck, refuse_sends count."""
