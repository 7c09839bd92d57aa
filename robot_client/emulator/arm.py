"""One emulated arm: seven motors on one body, moved on lazily to the time of whoever looks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_client.emulator import body
from robot_client.emulator.frames import BROADCAST_ID, decode_parameter
from robot_client.emulator.motor import LOST_COMMUNICATION, Motor

YAM_KINDS: Final = ("DM4340", "DM4340", "DM4340", "DM4310", "DM4310", "DM4310", "DM4310")
STEP_NS: Final = 4_000_000
"""Stable for the driver's gains on these inertias, and cheap: an emulator shares its process with the driver."""
_LONGEST_NS: Final = 20_000_000_000
"""An arm that nobody looked at for longer has come to rest wherever it fell."""


class EmulatedArm:
    """Positions and velocities (7,) [rad, rad/s] at the output shafts. Safe to use from several threads.

    `encoder_offset_rad` (7,) is what the motors' encoders read more than the joints are, for example a turn.
    """

    def __init__(
        self,
        clock_ns: Callable[[], int],
        start_rad: Sequence[float] = (0.0,) * body.MOTORS,
        kinds: Sequence[str] = YAM_KINDS,
        gripper_stops_rad: tuple[float, float] = (-6.6, 0.1),
        encoder_offset_rad: Sequence[float] = (0.0,) * body.MOTORS,
    ) -> None:
        self.motors = tuple(Motor(number + 1, kind) for number, kind in enumerate(kinds))
        self._clock_ns, self._lock = clock_ns, threading.RLock()
        self._position = np.array(start_rad, np.float64)
        self._velocity = np.zeros(body.MOTORS)
        self._offset = np.array(encoder_offset_rad, np.float64)
        self._lower = np.append(body.LOWER_RAD, min(gripper_stops_rad))
        self._upper = np.append(body.UPPER_RAD, max(gripper_stops_rad))
        self._time_ns = clock_ns()

    def joints(self) -> NDArray[np.float64]:
        """Where the joints are now."""
        with self._lock:
            self._advance()
            return self._position.copy()

    def velocities(self) -> NDArray[np.float64]:
        """How fast they move now."""
        with self._lock:
            self._advance()
            return self._velocity.copy()

    def powered(self) -> tuple[bool, ...]:
        """Which motors have torque now."""
        with self._lock:
            self._advance()
            return tuple(motor.enabled for motor in self.motors)

    def fail(self, motor_id: int, code: int) -> None:
        """A motor reports an error from now on."""
        with self._lock:
            self._advance()
            self.motors[motor_id - 1].fail(code)

    def answer(self, frame_id: int, data: bytes) -> tuple[int, bytes] | None:
        """Id and bytes of the answer to one frame, or None when no motor answers."""
        with self._lock:
            self._advance()
            return self._parameter(data) if frame_id == BROADCAST_ID else self._command(frame_id, data)

    def _command(self, frame_id: int, data: bytes) -> tuple[int, bytes] | None:
        motor = next((m for m in self.motors if m.motor_id == frame_id), None)
        if motor is None or not motor.take(data, self._time_ns):
            return None
        i = motor.motor_id - 1
        return motor.motor_id + 0x10, motor.feedback(self._position[i] + self._offset[i], self._velocity[i])

    def _parameter(self, data: bytes) -> tuple[int, bytes] | None:
        request = decode_parameter(data)
        motor = next((m for m in self.motors if request is not None and m.motor_id == request.motor_id), None)
        raw = motor.parameter(request) if motor is not None and request is not None else None
        return None if raw is None else (BROADCAST_ID, raw)

    def _advance(self) -> None:
        now_ns = self._clock_ns()
        self._time_ns = max(self._time_ns, now_ns - _LONGEST_NS)
        while self._time_ns + STEP_NS <= now_ns:
            self._time_ns += STEP_NS
            self._timeouts()
            self._step(STEP_NS * 1e-9)

    def _timeouts(self) -> None:
        for motor in self.motors:
            end_ns = motor.lets_go_at_ns()
            if end_ns is not None and self._time_ns >= end_ns:
                motor.fail(LOST_COMMUNICATION)

    def _step(self, dt_s: float) -> None:
        seen, speeds = (self._position + self._offset).tolist(), self._velocity.tolist()
        drive = np.array([m.drive_nm(seen[i], speeds[i]) for i, m in enumerate(self.motors)])
        shorted = np.array([not motor.enabled for motor in self.motors])
        push = drive - body.holding_nm(self._position)
        push += body.stop_nm(self._position, self._velocity, self._lower, self._upper)
        damping = body.DAMPING_NM_S + body.SHORTED_NM_S * shorted
        # Damping is taken implicitly: a stiff kd on a light joint would make an explicit step unstable.
        self._velocity = (self._velocity + dt_s * push / body.INERTIA_KG_M2) / (
            1.0 + dt_s * damping / body.INERTIA_KG_M2
        )
        self._position = self._position + dt_s * self._velocity
