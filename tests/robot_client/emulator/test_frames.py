"""The emulator's bytes are the driver's bytes."""

from __future__ import annotations

from collections.abc import Iterator

import can
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from i2rt.motor_config_tool.dm_motor_registers import REG_BY_NAME, read_register
from i2rt.motor_config_tool.utils import RawCanInterface
from i2rt.motor_drivers.dm_driver import DMSingleMotorCanInterface
from i2rt.motor_drivers.utils import MotorConstants, MotorErrorCode, MotorType

from robot_client.clock import FakeClock
from robot_client.emulator import registers
from robot_client.emulator.arm import EmulatedArm
from robot_client.emulator.bus import Wire
from robot_client.emulator.frames import Feedback, MitCommand, decode_mit, encode_feedback
from robot_client.emulator.kinds import KD_MAX, KINDS, KP_MAX, scale_of
from robot_client.emulator.network import Network, redirected


class _Tap(Wire):
    """A wire that keeps what was sent."""

    def __init__(self) -> None:
        super().__init__("can_left", EmulatedArm(FakeClock(1).now_ns))
        self.sent: list[can.Message] = []

    def send(self, message: can.Message) -> None:
        self.sent.append(message)
        super().send(message)


@pytest.fixture(scope="module")
def driver() -> Iterator[tuple[DMSingleMotorCanInterface, _Tap]]:
    tap = _Tap()
    with redirected(Network(tap)):
        yield DMSingleMotorCanInterface(channel="can_left", bustype="socketcan"), tap


@given(
    kind=st.sampled_from(("DM4340", "DM4310")),
    position=st.floats(-14, 14),
    velocity=st.floats(-35, 35),
    kp=st.floats(0, 520),
    kd=st.floats(0, 6),
    torque=st.floats(-30, 30),
)
@settings(max_examples=60, deadline=None)
def test_a_command_is_decoded_to_what_the_driver_encoded(
    driver: tuple[DMSingleMotorCanInterface, _Tap],
    kind: str,
    position: float,
    velocity: float,
    kp: float,
    kd: float,
    torque: float,
) -> None:
    interface, tap = driver
    interface.motor_on(1, MotorType.DM4340)
    interface.set_control(1, kind, position, velocity, kp, kd, torque)
    scale = scale_of(kind)
    command = decode_mit(bytes(tap.sent[-1].data), scale)
    for got, asked, low, high, bits in (
        (command.position_rad, position, -scale.position_rad, scale.position_rad, 16),
        (command.velocity_rad_s, velocity, -scale.velocity_rad_s, scale.velocity_rad_s, 12),
        (command.kp, kp, 0, KP_MAX, 12),
        (command.kd, kd, 0, KD_MAX, 12),
        (command.torque_nm, torque, -scale.torque_nm, scale.torque_nm, 12),
    ):
        wanted = min(max(asked, low), high)
        assert abs(got - wanted) <= (high - low) / ((1 << bits) - 1) * 1.001


@given(
    error=st.integers(0, 15),
    position=st.floats(-12.5, 12.5),
    velocity=st.floats(-10, 10),
    torque=st.floats(-28, 28),
    mosfet=st.integers(0, 255),
)
@settings(max_examples=60, deadline=None)
def test_the_driver_reads_feedback_as_it_was_meant(
    driver: tuple[DMSingleMotorCanInterface, _Tap],
    error: int,
    position: float,
    velocity: float,
    torque: float,
    mosfet: int,
) -> None:
    data = encode_feedback(Feedback(3, error, position, velocity, torque, mosfet, 40), scale_of("DM4340"))
    message = can.Message(arbitration_id=0x13, data=data, is_extended_id=False)
    seen = driver[0].parse_recv_message(message, "DM4340", ignore_error=True)
    assert (seen.id, int(seen.error_code, 16), seen.temperature_mos) == (3, error, mosfet)
    assert seen.position == pytest.approx(position, abs=25 / 65535)
    assert seen.velocity == pytest.approx(velocity, abs=20 / 4095)
    assert seen.torque == pytest.approx(torque, abs=56 / 4095)


def test_scales_and_gears_are_the_drivers() -> None:
    for kind, scale in KINDS.items():
        theirs: MotorConstants = MotorType.get_motor_constants(kind)
        assert (scale.position_rad, scale.velocity_rad_s, scale.torque_nm) == (
            theirs.POSITION_MAX,
            theirs.VELOCITY_MAX,
            theirs.TORQUE_MAX,
        )
        assert (theirs.KP_MAX, theirs.KD_MAX) == (KP_MAX, KD_MAX)
        assert scale.gear == MotorType.get_gear_ratio(kind)


def test_register_addresses_are_the_drivers() -> None:
    names = ("MST_ID", "ESC_ID", "TIMEOUT", "CTRL_MODE", "PMAX", "VMAX", "TMAX")
    assert all(REG_BY_NAME[name].addr == getattr(registers, name) for name in names)
    assert REG_BY_NAME["Gr"].addr == registers.GR


def test_the_drivers_register_tool_reads_every_register_that_start_up_needs() -> None:
    tap = _Tap()
    with redirected(Network(tap)):
        raw = RawCanInterface(channel="can_left", bustype="socketcan")
        read = {name: read_register(raw, 1, name) for name in ("Gr", "TIMEOUT", "CTRL_MODE", "PMAX", "sw_ver")}
        raw.close()
    assert read == {"Gr": 40.0, "TIMEOUT": 8000, "CTRL_MODE": 1, "PMAX": 12.5, "sw_ver": 5017}
    assert not tap.arm.motors[0].registers.writes


def test_an_error_code_that_the_driver_does_not_know_still_comes_through() -> None:
    data = encode_feedback(Feedback(7, 0x5, 0.0, 0.0, 0.0, 30, 30), scale_of("DM4310"))
    assert data[0] == 0x57
    assert "Unknown" in MotorErrorCode.get_error_message(data[0] >> 4)


def test_a_command_for_another_kind_of_motor_is_scaled_wrong_as_on_a_real_one() -> None:
    """B32: a DM4340 told as if it were a DM4310 turns 1 Nm into 2.8 Nm; only the gear ratio tells."""
    asked = MitCommand(0.0, 0.0, 0.0, 0.0, 1.0)
    count = int((asked.torque_nm + 10) * 4095 / 20)
    frame = bytes((0x7F, 0xFF, 0x7F, 0xF0, 0, 0, count >> 8, count & 0xFF))
    assert decode_mit(frame, scale_of("DM4340")).torque_nm == pytest.approx(2.8, abs=0.02)
