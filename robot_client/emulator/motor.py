"""One emulated DM motor: enabled or not, its error, its last command, and the torque that comes of it."""

from __future__ import annotations

from typing import Final

from robot_client.emulator import frames
from robot_client.emulator.frames import Feedback, MitCommand, ParameterRequest
from robot_client.emulator.kinds import scale_of
from robot_client.emulator.registers import CTRL_MODE, MIT_MODE, Registers

DISABLED, NORMAL, LOST_COMMUNICATION = 0x0, 0x1, 0xD
_NOTHING: Final = MitCommand(0.0, 0.0, 0.0, 0.0, 0.0)


class Motor:
    """State of one motor. Times are nanoseconds of the emulated arm's clock."""

    def __init__(self, motor_id: int, kind: str) -> None:
        self.motor_id, self.kind = motor_id, kind
        self.registers = Registers(motor_id, scale_of(kind))
        self.scale = self.registers.scale
        """What it decodes with: the registers' ranges."""
        self.enabled = False
        self.error = NORMAL
        """NORMAL, or a DM error code while there is one."""
        self.silent = False
        """Answers nothing: no power, no cable, or another id."""
        self.command = _NOTHING
        self.commands = 0
        """MIT commands obeyed so far."""
        self.mosfet_c = self.rotor_c = 30
        self.torque_nm = 0.0
        """Torque of the newest step."""
        self._heard_ns = 0

    @property
    def status(self) -> int:
        """Code in the feedback's first nibble."""
        if self.error != NORMAL:
            return self.error
        return NORMAL if self.enabled else DISABLED

    def fail(self, code: int) -> None:
        """From now on the motor reports `code` and gives no torque, until cleared and enabled again."""
        self.error, self.enabled = code, False

    def lets_go_at_ns(self) -> int | None:
        """When the motor's own timeout fires if nothing more comes; None = never."""
        if not self.enabled or not self.registers.timeout_ns:
            return None
        return self._heard_ns + self.registers.timeout_ns

    def take(self, data: bytes, now_ns: int) -> bool:
        """Obey one frame to this motor's id; whether it answers."""
        if self.silent:
            return False
        self._heard_ns = now_ns
        special = frames.special_of(data)
        if special is not None:
            self._special(special)
            return True
        if len(data) != 8 or self.registers.values[CTRL_MODE] != MIT_MODE:
            return False
        if self.enabled:
            self.command = frames.decode_mit(data, self.scale)
            self.commands += 1
        return True

    def parameter(self, request: ParameterRequest) -> bytes | None:
        """Answer to a parameter request for this motor."""
        if self.silent:
            return None
        answer = self.registers.answer(request)
        self.scale = self.registers.scale
        return answer

    def drive_nm(self, position_rad: float, velocity_rad_s: float) -> float:
        """Torque of the last command at this state, within TMAX; zero without torque."""
        if not self.enabled:
            self.torque_nm = 0.0
            return 0.0
        command, limit = self.command, self.scale.torque_nm
        spring = command.kp * (command.position_rad - position_rad)
        damper = command.kd * (command.velocity_rad_s - velocity_rad_s)
        self.torque_nm = min(max(spring + damper + command.torque_nm, -limit), limit)
        return self.torque_nm

    def feedback(self, position_rad: float, velocity_rad_s: float) -> bytes:
        """The frame this motor answers with now."""
        state = Feedback(
            self.motor_id, self.status, position_rad, velocity_rad_s, self.torque_nm, self.mosfet_c, self.rotor_c
        )
        return frames.encode_feedback(state, self.scale)

    def _special(self, act: int) -> None:
        if act == frames.CLEAR:
            self.error = NORMAL
        elif act == frames.DISABLE:
            self.enabled = False
        elif act == frames.ENABLE and self.error == NORMAL and not self.enabled:
            self.enabled, self.command = True, _NOTHING
