"""What emulated motors do on their own clock: hold, sag, fall, time out, fail, and keep quiet."""

from __future__ import annotations

import can
import numpy as np
import pytest

from robot_client.clock import NS_PER_MS, NS_PER_S, FakeClock
from robot_client.emulator import body
from robot_client.emulator.arm import YAM_KINDS, EmulatedArm
from robot_client.emulator.bus import TRANSMIT_QUEUE, EmulatedBus, Wire
from robot_client.emulator.frames import CLEAR, DISABLE, ENABLE
from robot_client.emulator.kinds import scale_of
from robot_client.emulator.motor import LOST_COMMUNICATION

RAISED = (0.0, 1.05, 1.05, 0.0, 0.0, 0.0, 0.0)
KP = (80.0, 80.0, 80.0, 10.0, 10.0, 10.0, 20.0)
KD = (5.0, 5.0, 5.0, 1.5, 1.5, 1.5, 0.5)


def mit(kind: str, position: float, kp: float, kd: float, torque: float = 0.0) -> bytes:
    """A MIT frame, written out by hand."""
    scale = scale_of(kind)

    def count(value: float, low: float, high: float, bits: int) -> int:
        return int((value - low) * ((1 << bits) - 1) / (high - low))

    p = count(position, -scale.position_rad, scale.position_rad, 16)
    v = count(0.0, -scale.velocity_rad_s, scale.velocity_rad_s, 12)
    k, d = count(kp, 0, 500, 12), count(kd, 0, 5, 12)
    t = count(torque, -scale.torque_nm, scale.torque_nm, 12)
    return bytes((p >> 8, p & 255, v >> 4, (v & 15) << 4 | k >> 8, k & 255, d >> 4, (d & 15) << 4 | t >> 8, t & 255))


class Bench:
    """A raised arm on a fake clock, commanded by hand."""

    def __init__(self, compensated: bool = True) -> None:
        self.clock = FakeClock(NS_PER_S)
        self.arm = EmulatedArm(self.clock.now_ns, RAISED)
        self.wire = Wire("can_left", self.arm)
        self.bus = EmulatedBus("can_left", self.wire)
        self.compensated = compensated
        for motor in range(1, 8):
            self.special(motor, ENABLE)

    def special(self, motor: int, act: int) -> None:
        self.wire.send(can.Message(arbitration_id=motor, data=b"\xff" * 7 + bytes((act,)), is_extended_id=False))

    def command(self, target: tuple[float, ...] = RAISED) -> None:
        torque = body.holding_nm(self.arm.joints()) if self.compensated else np.zeros(7)
        for i, kind in enumerate(YAM_KINDS):
            data = mit(kind, target[i], KP[i], KD[i], float(torque[i]))
            self.wire.send(can.Message(arbitration_id=i + 1, data=data, is_extended_id=False))

    def run(self, seconds: float, commanded: bool = True) -> np.ndarray:
        for _ in range(round(seconds * 100)):
            if commanded:
                self.command()
            self.clock.advance(10 * NS_PER_MS)
        return self.arm.joints()


def test_a_commanded_arm_stays_where_it_is() -> None:
    assert np.abs(Bench().run(1.0) - RAISED).max() < 0.005


def test_without_gravity_compensation_it_sags_by_torque_over_stiffness() -> None:
    bench = Bench(compensated=False)
    sag = bench.run(3.0) - RAISED
    expected = -body.holding_nm(bench.arm.joints()) / np.array(KP)
    assert np.abs(sag - expected).max() < 0.005
    assert np.abs(sag).max() > 0.05


def test_400_ms_after_the_last_command_every_motor_lets_go_and_the_arm_falls() -> None:
    bench = Bench()
    bench.run(0.5)
    bench.run(0.38, commanded=False)
    assert all(bench.arm.powered())
    assert np.abs(bench.arm.joints() - RAISED).max() < 0.05
    bench.run(0.03, commanded=False)
    assert not any(bench.arm.powered())
    assert {motor.error for motor in bench.arm.motors} == {LOST_COMMUNICATION}
    assert np.abs(bench.run(1.0, commanded=False) - RAISED).max() > 0.5


def test_an_arm_without_torque_sinks_at_a_bounded_speed() -> None:
    bench = Bench()
    for motor in range(1, 8):
        bench.special(motor, DISABLE)
    bench.run(0.6, commanded=False)
    assert 0.3 < np.abs(bench.arm.velocities()).max() < 5.0


def test_end_stops_end_the_fall() -> None:
    bench = Bench()
    bench.run(12.0, commanded=False)
    position = bench.arm.joints()[:6]
    assert (position > body.LOWER_RAD - 0.1).all() and (position < body.UPPER_RAD + 0.1).all()


def test_a_timeout_register_of_zero_means_that_a_silent_arm_is_held_for_ever() -> None:
    bench = Bench()
    for motor in bench.arm.motors:
        motor.registers.values[9] = 0
    bench.run(0.2)
    bench.run(5.0, commanded=False)
    assert all(bench.arm.powered())


def test_a_motor_with_an_error_ignores_commands_until_cleared_and_enabled() -> None:
    bench = Bench()
    bench.arm.fail(3, 0xC)
    bench.command()
    answers = [bench.bus.recv(0) for _ in range(14)]
    third = [m for m in answers if m is not None and m.arbitration_id == 0x13][-1]
    assert third.data[0] == 0xC3
    assert bench.arm.powered()[2] is False
    bench.special(3, ENABLE)
    assert bench.arm.powered()[2] is False
    bench.special(3, CLEAR)
    bench.special(3, ENABLE)
    assert bench.arm.powered()[2] is True


def test_a_silent_motor_answers_nothing_and_the_others_do() -> None:
    bench = Bench()
    bench.arm.motors[4].silent = True
    while bench.bus.recv(0):
        pass
    bench.command()
    answered = {message.arbitration_id for message in iter(lambda: bench.bus.recv(0), None)}
    assert answered == {0x11, 0x12, 0x13, 0x14, 0x16, 0x17}


def test_a_full_transmit_queue_refuses_at_once_and_later_sends_what_is_old() -> None:
    """B30: "no buffer space" comes at once whatever the timeout, and queued frames go out when the wire is back."""
    bench = Bench()
    bench.run(0.1)
    before = bench.arm.motors[0].commands
    bench.wire.stuck = True
    frame = can.Message(arbitration_id=1, data=mit("DM4340", 1.0, 80, 5), is_extended_id=False)
    for _ in range(TRANSMIT_QUEUE):
        bench.bus.send(frame)
    with pytest.raises(can.CanOperationError, match="buffer space"):
        bench.bus.send(frame, timeout=5.0)
    assert bench.arm.motors[0].commands == before
    bench.wire.release()
    assert bench.arm.motors[0].commands == before + TRANSMIT_QUEUE


def test_what_waited_longer_than_the_timeout_moves_nothing_when_it_goes_out() -> None:
    bench = Bench()
    bench.run(0.1)
    bench.wire.stuck = True
    for _ in range(TRANSMIT_QUEUE):
        bench.bus.send(can.Message(arbitration_id=1, data=mit("DM4340", 1.0, 80, 5), is_extended_id=False))
    bench.run(0.5, commanded=False)
    bench.wire.release()
    bench.run(0.3, commanded=False)
    assert abs(bench.arm.joints()[0]) < 0.01


def test_bus_off_fails_every_send_and_receives_nothing() -> None:
    bench = Bench()
    bench.wire.bus_off = True
    with pytest.raises(can.CanOperationError, match="down"):
        bench.command()
    assert bench.bus.recv(0.0) is None
    assert bench.bus.state is can.BusState.ERROR


def test_a_channel_that_is_missing_cannot_be_opened() -> None:
    with pytest.raises(OSError, match="No such device"):
        EmulatedBus("can_left", Wire("can_left", EmulatedArm(FakeClock().now_ns), missing=True))
