"""Leaders of encoders alone (GELLO), through i2rt's `PassiveJointEncoder`: nothing in them can move."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from typing import Final

import can
import numpy as np
from i2rt.utils.can_flash import get_can_bus
from i2rt.utils.encoder_manager import EncoderCanID, EncoderReport, PassiveJointEncoder, drain_bus

from contract.arms import LeaderUnit
from contract.errors import RigError
from contract.layout import ARM_SIZE, SIZE, Arm, arm_of
from contract.station import Station
from robot_client.clock import NS_PER_S, Clock
from robot_client.leaders.units import leader_units
from robot_client.teleop.calibrated import CalibratedArm
from robot_client.teleop.sample import LeaderSample

_REPORT_S: Final = 0.02
"""Longest wait for seven reports, which take about a millisecond on a 1 Mbit/s bus."""
_FIRST_S: Final = 1.0
_RAD: Final = 2 * pi / 4096
_ASK_ALL: Final = (0xFF, PassiveJointEncoder.REQ_REPORT)
_DEAD_MAN, _CLUTCH_OPEN = 1, 2
"""Buttons of the trigger's board."""


class GelloLeader:
    """A `LeaderDevice` over one bus per arm. An arm whose encoders do not all answer is NaN, and they are named."""

    def __init__(self, units: Mapping[Arm, LeaderUnit], station: Station, clock: Clock) -> None:
        self._units, self._clock = units, clock
        self._calibrations = {arm: getattr(station.teleop, arm) for arm in units}
        self._arms = {arm: CalibratedArm(self._calibrations[arm], getattr(station.safety, arm)) for arm in units}
        self._encoders: dict[Arm, PassiveJointEncoder] = {}
        self._shown = np.full(SIZE, np.nan)
        self._good_ns: dict[Arm, int] = {}
        self._opened: dict[Arm, bool] = {}
        """Clutch as it was last heard: an encoder that misses one answer does not close it."""

    def open(self) -> None:
        """Raises `RigError` naming bus and encoder when one does not answer."""
        for arm, unit in self._units.items():
            try:
                self._encoders[arm] = PassiveJointEncoder(get_can_bus(unit.channel))
            except (OSError, can.CanError) as error:
                raise RigError(
                    f"{arm} leader: bus {unit.channel}",
                    expected="an interface that is up",
                    got=error,
                    remedy="plug the adapter in, and bring it up",
                ) from error
            if missing := self._missing(arm, self._ask(arm, _FIRST_S)):
                raise RigError(
                    f"{arm} leader, bus {unit.channel}",
                    expected="every encoder (0x50E) to answer",
                    got=f"silence of {missing}",
                    remedy="check cable and power, and teleop.{arm}.devices".replace("{arm}", arm),
                )

    def read(self, goal: object) -> LeaderSample:
        troubles, pressed = [], False
        for arm in self._units:
            reports = self._ask(arm, _REPORT_S)
            missing = self._missing(arm, reports)
            if missing:
                troubles.append(f"bus {self._units[arm].channel}: no answer of {missing}")
            else:
                buttons = self._take(arm, reports)
                pressed = pressed or bool(buttons & _DEAD_MAN)
                self._opened[arm] = bool(buttons & _CLUTCH_OPEN)
        stamps = [self._good_ns.get(arm, 0) for arm in self._units]
        closed = not any(self._opened.values())
        return LeaderSample(self._shown.copy(), min(stamps), pressed, closed, "; ".join(troubles))

    def close(self) -> None:
        """Nothing in it moves."""
        for encoder in self._encoders.values():
            encoder.bus.shutdown()
        self._encoders = {}

    def _ask(self, arm: Arm, timeout_s: float) -> dict[int, EncoderReport]:
        """All devices at once, until the last one has answered."""
        encoder, devices = self._encoders[arm], self._calibrations[arm].devices
        found: dict[int, EncoderReport] = {}
        until_ns = self._clock.now_ns() + int(timeout_s * NS_PER_S)
        try:
            drain_bus(encoder.bus)
            encoder.bus.send(can.Message(arbitration_id=EncoderCanID.REQ, data=_ASK_ALL, is_extended_id=False))
            while not found.keys() >= set(devices) and (left_ns := until_ns - self._clock.now_ns()) > 0:
                answer = encoder.wait_for_event_or_report(timeout=left_ns / NS_PER_S)
                if answer is not None and answer[0] == EncoderCanID.REPORT:
                    found[answer[1].device] = answer[1]
        except (OSError, can.CanError):
            return {}
        return found

    def _missing(self, arm: Arm, reports: Mapping[int, EncoderReport]) -> str:
        lost = [str(device) for device in self._calibrations[arm].devices if device not in reports]
        return f"encoder {', '.join(lost)}" if lost else ""

    def _take(self, arm: Arm, reports: Mapping[int, EncoderReport]) -> int:
        """Keeps a reading that can be believed; one that cannot leaves the last, which then grows old."""
        *joints, trigger = (reports[device] for device in self._calibrations[arm].devices)
        now_ns = self._clock.now_ns()
        raw = np.array([report.position for report in joints]) * _RAD
        values = self._arms[arm].values(raw, trigger.position * _RAD, now_ns)
        if values is not None and len(values) == ARM_SIZE:
            arm_of(self._shown, arm)[:] = values
            self._good_ns[arm] = now_ns
        return trigger.inputs


def make_gello(station: Station, clock: Clock) -> GelloLeader:
    """Unopened. Raises `ConfigurationError` when the station has none."""
    return GelloLeader(leader_units(station, "encoders"), station, clock)
