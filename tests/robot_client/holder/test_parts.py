"""Gripper scales, error words, mailbox bytes and claims of the holders."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from i2rt.motor_drivers.utils import MotorErrorCode
from i2rt.robots.utils import JointMapper

from contract.arms import NOMINAL_TRAVEL_RAD
from contract.errors import RigError, StationError
from contract.station import load_station
from robot_client.clock import NS_PER_S, FakeClock
from robot_client.holder import client as client_module
from robot_client.holder.claim import claim, owner
from robot_client.holder.client import ArmClient
from robot_client.holder.gripper import TURN_RAD, Gripper, checked_gripper
from robot_client.holder.messages import (
    ORDER_BYTES,
    STATE_BYTES,
    ArmState,
    Hold,
    Order,
    pack_order,
    pack_state,
    unpack_order,
    unpack_state,
)
from robot_client.holder.motor_errors import in_words
from robot_client.mailbox_file import Letter
from robot_client.rigs.base import Stop
from robot_client.rigs.yam import YamRig
from robot_client.rigs.yam_preflight import driver_motors

EXAMPLE = Path(__file__).parents[3] / "calibration/stations/yam_example.toml"


def changed(tmp_path: Path, old: str, new: str) -> str:
    """The example station with one text replaced."""
    text = EXAMPLE.read_text()
    assert old in text
    path = tmp_path / "station.toml"
    path.write_text(text.replace(old, new, 1))
    return str(path)


@pytest.mark.parametrize("limits", [(0.0, 5.5), (0.0, -5.5), (-2.7, 2.7)], ids=["rising", "mirrored", "around zero"])
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_an_opening_comes_back_as_it_was_sent(limits: tuple[float, float], share: float) -> None:
    """B25: round trip action -> motor -> observation, also for a mirrored gripper, and as the driver maps it."""
    gripper = checked_gripper(limits, "linear_4310", "left")
    assert gripper.to_share(gripper.to_motor_rad(share)) == pytest.approx(share, abs=1e-9)
    theirs = JointMapper({6: limits}, 7).to_robot_joint_pos_space(np.append(np.zeros(6), share))
    assert theirs[6] == pytest.approx(gripper.to_motor_rad(share))


@pytest.mark.parametrize("limits", [(0.0, 0.0), (0.0, 0.083), (1.0, -0.2), (0.0, float("nan"))])
def test_a_collapsed_travel_is_refused_before_motion_and_the_arm_is_named(limits: tuple[float, float]) -> None:
    """B25: automatic range finding with the jaws blocked gave 0.083 of 6.57 rad, and nothing complained."""
    with pytest.raises(RigError, match="right arm"):
        checked_gripper(limits, "linear_4310", "right")


def test_a_station_with_a_collapsed_travel_does_not_load(tmp_path: Path) -> None:
    """B25: and the message names the arm's section."""
    with pytest.raises(StationError, match=r"arms\.left.*0\.083"):
        load_station(changed(tmp_path, "gripper_limits_rad = [0.0, -5.5]", "gripper_limits_rad = [0.0, -0.083]"))


@given(share=st.floats(0.12, 0.88), turns=st.integers(-1, 1), mirrored=st.booleans())
def test_the_turn_that_an_encoder_came_up_in_is_found(share: float, turns: int, mirrored: bool) -> None:
    """B27: turns lost at power-up; a gripper travels more than half a turn, so a reading alone does not tell."""
    gripper = Gripper(0.0, -6.0 if mirrored else 6.0)
    true_rad = gripper.to_motor_rad(share)
    assert gripper.turns_off(true_rad + turns * TURN_RAD, "left") == -turns


def test_a_reading_that_fits_two_turns_is_refused_with_what_to_do() -> None:
    """B27: both ends of a travel of a turn look the same."""
    with pytest.raises(RigError, match=r"left arm.*2 that fit.*half open"):
        Gripper(0.0, -6.57).turns_off(-0.1, "left")


def test_a_reading_that_fits_no_turn_is_refused() -> None:
    with pytest.raises(RigError, match=r"0 that fit.*gripper_limits_rad"):
        Gripper(0.0, -2.0).turns_off(math.pi / 2 + 0.5, "left")


def test_every_motor_error_code_has_words_of_its_own() -> None:
    """B30: over-temperature, over-current and every unknown value 0x2..0xF give distinct texts."""
    texts = [in_words(code) for code in range(16)]
    assert len(set(texts)) == 16
    assert "0xD" in texts[0xD] and "communication" in texts[0xD]
    assert "not in the manual" in texts[0x5] and "not in the manual" in texts[0xF]
    assert all("not in the manual" not in texts[code] for code in MotorErrorCode.motor_error_code_dict)


def test_unknown_grippers_and_seven_joints_are_refused_with_the_allowed_list(tmp_path: Path) -> None:
    """B32 (f)."""
    with pytest.raises(StationError, match=r"arms\.left\.gripper.*crank_4310.*linear_4310"):
        load_station(changed(tmp_path, 'gripper = "linear_4310"', 'gripper = "parallel"'))
    with pytest.raises(StationError, match=r"arms\.left\.motor_types.*7 items"):
        load_station(changed(tmp_path, 'motor_types = ["DM4340", ', 'motor_types = ["DM4340", "DM4340", '))


def test_one_bus_for_both_arms_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StationError, match="left arm and right arm are both on channel can_left"):
        load_station(changed(tmp_path, "can_right", "can_left"))


def test_real_arms_need_their_section_and_the_twin_has_none(tmp_path: Path) -> None:
    with pytest.raises(StationError, match="has no section"):
        load_station(changed(tmp_path, 'rig = "yam"', 'rig = "sim"'))
    assert load_station("twin").arms is None


def test_the_example_station_has_the_motors_that_the_driver_expects() -> None:
    arms = load_station("yam_example").arms
    assert arms is not None
    assert driver_motors(arms.left) == arms.left.motor_types
    assert set(NOMINAL_TRAVEL_RAD) == {"crank_4310", "flexible_4310", "linear_3507", "linear_4310"}


def test_a_state_comes_back_as_it_was_written_and_fits() -> None:
    vectors = [np.arange(7.0) * k for k in range(6)]
    state = ArmState(Hold.FALLING, 12, 34, 2, 99, 3, 4, 5, *vectors, "ü" * 300, "warm" * 100)
    data = pack_state(state)
    assert len(data) == STATE_BYTES
    back = unpack_state(Letter(data, 2, 1))
    assert (back.hold, back.holder, back.client, back.holds, back.order) == (Hold.FALLING, 12, 34, 2, 99)
    assert (back.refused, back.clipped, back.feedback) == (3, 4, 5)
    assert np.array_equal(back.rotor_c, vectors[5]) and np.array_equal(back.held, vectors[3])
    assert back.reason.startswith("ü" * 100) and back.alarm.startswith("warm" * 40)


@pytest.mark.parametrize("stop", [None, *Stop])
def test_an_order_comes_back_in_memory_of_its_own(stop: Stop | None) -> None:
    target = np.arange(7.0)
    data = pack_order(Order(stop, target, 7, 3, True))
    assert len(data) == ORDER_BYTES
    back = unpack_order(Letter(data, 2, 1))
    assert (back.stop, back.client, back.seen_holds, back.confirmed) == (stop, 7, 3, True)
    back.target[0] = 5.0
    assert unpack_order(Letter(data, 2, 1)).target[0] == 0.0


def test_bytes_that_are_no_order_are_refused() -> None:
    for data in (b"", b"\xff" * ORDER_BYTES, b"\0" * (ORDER_BYTES + 1)):
        with pytest.raises(RigError):
            unpack_order(Letter(data, 2, 1))


def test_who_comes_second_is_told_the_process_that_came_first(tmp_path: Path) -> None:
    """B03's kind, for arms: the first keeps it; when it dies, however it dies, the file is free at once."""
    path = tmp_path / "left.client"
    code = (
        "from robot_client.holder.claim import claim; from pathlib import Path; import time; "
        f'kept = claim(Path({str(path)!r}), "x", "y"); print("ok", flush=True); time.sleep(600)'
    )
    first = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=EXAMPLE.parents[2])
    try:
        assert first.stdout is not None and first.stdout.readline() == b"ok\n"
        assert owner(path) == first.pid
        with pytest.raises(RigError, match=rf"left arm: expected nobody else, got process {first.pid} \(wait\)"):
            claim(path, "client of the left arm", "wait")
    finally:
        first.kill()
        first.wait(60)
    assert owner(path) == 0
    claim(path, "client of the left arm", "wait").release()


def test_a_hold_of_both_arms_reaches_the_second_one_although_the_first_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = YamRig(load_station("yam_example"), tmp_path, FakeClock(NS_PER_S))
    asked: list[str] = []

    def stop(self: ArmClient, how: Stop, confirmed: bool) -> None:
        asked.append(f"{self.arm} {how.value}")
        if self.arm == "left":
            raise RigError("left arm", expected="a holder process", got="none")

    monkeypatch.setattr(ArmClient, "stop", stop)
    with pytest.raises(RigError, match="left arm"):
        rig.stop(Stop.HOLD)
    assert asked == ["left hold", "right hold"]


def test_a_client_that_found_no_room_for_its_orders_is_not_refused_by_itself_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, capacity_bytes: int) -> None:
        raise RigError(f"mailbox {path}", expected="memory", got="No space left on device")

    monkeypatch.setattr(client_module, "open_writer", full)
    client = ArmClient(tmp_path, "left", tmp_path / "can_left.bus", FakeClock(NS_PER_S))
    with pytest.raises(RigError, match="No space"):
        client.take()
    monkeypatch.undo()
    client.take()
    client.close()
    assert owner(tmp_path / "left.client") == 0


def test_the_rig_of_real_arms_loads_no_driver_and_no_can_library() -> None:
    """The loop's process must not be where a driver's thread, a model or a bus could hurt it."""
    code = "import sys, robot_client.rigs.yam, robot_client.parking; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=EXAMPLE.parents[2], timeout=60, check=True
    )
    assert not {"i2rt", "can", "mujoco"} & {name.split(".")[0] for name in done.stdout.split()}
