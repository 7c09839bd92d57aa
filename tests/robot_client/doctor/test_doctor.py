"""What the doctor finds on emulated buses and in a made-up /sys/class/net."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from contract.station import load_station
from robot_client.doctor import computer, logout
from robot_client.doctor.examine import Examination, examine
from robot_client.doctor.kernel import check_kernel
from robot_client.doctor.lines import Level, Line, as_json, failed
from robot_client.emulator.arm import YAM_KINDS, EmulatedArm
from robot_client.emulator.bus import Wire
from robot_client.emulator.network import Network, redirected
from robot_client.emulator.registers import GR, TIMEOUT

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "calibration/stations/yam_example.toml"
BUNDLE = next((ROOT / "bundles").glob("*/policy.toml")).parent
LEADERS = """
[arms.leaders.left]
channel = "can_lead_l"
adapter_serial = "SN_LEAD"
kind = "teaching_handle"
"""


class Bench:
    """Two followers in order, and a leader; tests break what they look at."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.net = folder, folder / "net"
        text = EXAMPLE.read_text().replace('adapter_serial = ""', 'adapter_serial = "SN_LEFT"', 1)
        self.text = text.replace('adapter_serial = ""', 'adapter_serial = "SN_RIGHT"', 1)
        for number, side in enumerate(("TOP", "LEFT", "RIGHT")):
            device, sensor = folder / f"cam_{side}", folder / "video" / f"cam_{side}" / "device"
            device.write_text("")
            sensor.mkdir(parents=True)
            (sensor / "serial").write_text(f"CAM{number}\n")
            named = f'"v4l2:{device}"\nserial = "CAM{number}"'
            self.text = self.text.replace(f'"realsense:SERIAL_{side}"', named)
        self.wires = {name: Wire(name, EmulatedArm(time.monotonic_ns)) for name in ("can_left", "can_right")}
        self.wires["can_lead_l"] = Wire("can_lead_l", EmulatedArm(time.monotonic_ns), handle=True)
        self.wires["can_lead_l"].arm.motors[6].silent = True
        for name, serial in (("can_left", "SN_LEFT"), ("can_right", "SN_RIGHT"), ("can_lead_l", "SN_LEAD")):
            self.interface(name, serial)

    def interface(self, name: str, serial: str, flags: str = "0x40041", kind: str = "280") -> None:
        usb = self.folder / "usb" / name
        (usb / "1-1:1.0").mkdir(parents=True, exist_ok=True)
        (usb / "serial").write_text(serial + "\n")
        folder = self.net / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "type").write_text(kind + "\n")
        (folder / "flags").write_text(flags + "\n")
        if not (folder / "device").exists():
            (folder / "device").symlink_to(usb / "1-1:1.0")

    def lines(self, leaders: bool = False, **what: object) -> list[Line]:
        path = self.folder / "station.toml"
        path.write_text(self.text.replace("[safety]", LEADERS + "[safety]", 1) if leaders else self.text)
        examination = Examination(
            load_station(str(path)),
            out=self.folder,
            run_dir=str(self.folder / "run"),
            net=self.net,
            video=self.folder / "video",
        )
        with redirected(Network(*self.wires.values())):
            lines = list(examine(replace(examination, **what)))
        assert not any(motor.registers.writes for wire in self.wires.values() for motor in wire.arm.motors)
        assert not any(any(wire.arm.powered()) for wire in self.wires.values())
        return lines


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def bad(lines: list[Line]) -> list[str]:
    """The failing lines in one text each."""
    return [f"{line.what}: {line.found} -> {line.action}" for line in lines if line.level is Level.FAIL]


def test_a_station_in_order_has_no_fail_and_every_other_line_says_what_to_do(bench: Bench) -> None:
    lines = bench.lines(leaders=True)
    assert bad(lines) == []
    assert all(bool(line.action) == (line.level is not Level.OK) for line in lines)
    motors = next(line for line in lines if "left arm, motors" in line.what)
    assert motors.level is Level.OK and "DM4340, DM4340, DM4340, DM4310" in motors.found
    assert any("0x50E" in line.found for line in lines if line.level is Level.OK)


def test_a_bus_that_is_missing_or_down_or_something_else_is_a_fail_with_the_command(bench: Bench) -> None:
    """B32 (b)."""
    bench.text = bench.text.replace("can_left", "can_gone")
    bench.interface("can_right", "SN_RIGHT", flags="0x40080")
    found = bad(bench.lines())
    assert any("can_gone: no such interface; CAN interfaces here: can_lead_l, can_left, can_right" in f for f in found)
    assert any("can_right: down -> sudo ip link set can_right up type can bitrate 1000000" in f for f in found)
    bench.interface("can_right", "SN_RIGHT", kind="1")
    assert any("can_right: not a CAN interface" in f for f in bad(bench.lines()))


def test_swapped_missing_and_foreign_cameras_are_named(bench: Bench) -> None:
    """B32's kind for cameras: both deliver, each in the other one's place."""
    for side, serial in (("LEFT", "CAM2"), ("RIGHT", "CAM1")):
        (bench.folder / "video" / f"cam_{side}" / "device" / "serial").write_text(serial)
    found = bad(bench.lines())
    assert len(found) == 2 and all("sides swapped" in f for f in found)
    assert "CAM2, which is right_wrist's" in found[0]
    (bench.folder / "video" / "cam_LEFT" / "device" / "serial").write_text("CAM9")
    assert any("CAM9, expected CAM1" in f for f in bad(bench.lines()))
    (bench.folder / "cam_TOP").unlink()
    assert any("by-id" in f and "camera top" in f for f in bad(bench.lines()))


def test_cameras_without_a_serial_number_or_made_up_ones_are_warnings(bench: Bench) -> None:
    bench.text = bench.text.replace('serial = "CAM0"', "").replace(f"v4l2:{bench.folder}/cam_LEFT", "pattern:left")
    lines = bench.lines()
    assert bad(lines) == []
    line = next(line for line in lines if line.what == "camera top, serial number")
    assert line.level is Level.WARN and "serial = 'CAM0'" in line.action
    assert any(line.level is Level.WARN and "made up" in line.found for line in lines)


def test_a_realsense_that_nobody_can_ask_is_a_fail_with_the_remedy(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyrealsense2", None)
    bench.text = bench.text.replace(f"v4l2:{bench.folder}/cam_TOP", "realsense:123")
    assert any("camera top" in f and "pip install pyrealsense2" in f for f in bad(bench.lines()))


def test_emulated_arms_come_with_made_up_pictures_and_the_doctor_says_so(bench: Bench) -> None:
    """It failed cameras that a dry run does not open."""
    bench.text = EXAMPLE.read_text().replace('"socketcan"', '"emulated"')
    lines = bench.lines()
    assert bad(lines) == []
    assert sum(line.level is Level.WARN and "made up" in line.found for line in lines) == 3


def test_the_arms_latencies_are_told_or_missed(bench: Bench) -> None:
    """Only the cameras' were looked at: `lead_by_latency` without a measured latency did nothing, in silence."""
    bench.text = bench.text.replace("[timing]", "[timing]\nlead_by_latency = true")
    line = next(line for line in bench.lines() if line.what == "left arm, latency")
    assert line.level is Level.WARN and "does nothing" in line.found and "yam-calibrate latency" in line.action
    bench.text += """
[calibration]
format = 1
[calibration.latencies.arms.left]
latency_ms = 60.0
uncertainty_ms = 2.0
correlation = 0.99
method = "correlation"
date = "2026-01-31"
"""
    found = [line for line in bench.lines() if line.what.endswith("arm, latency")]
    assert [line.level for line in found] == [Level.OK, Level.WARN]
    assert found[0].found == "60 ms, give or take 2"


def test_an_answer_that_may_take_longer_than_the_rows_last_is_a_warning(bench: Bench) -> None:
    bench.text = bench.text.replace("answer_budget_ms = 400.0", "answer_budget_ms = 4000.0")
    lines = bench.lines(bundle=BUNDLE)
    assert any(line.level is Level.WARN and "4000 ms" in line.found for line in lines)


def test_the_kernels_way_with_real_time_is_told(tmp_path: Path) -> None:
    """Late ticks of the loop came from a kernel that does not preempt itself."""
    lines = {line.what: line for line in check_kernel(tmp_path)}
    assert lines["kernel preemption"].level is Level.WARN and "preempt=full" in lines["kernel preemption"].action
    assert lines["isolated cores"].level is Level.WARN and "isolcpus" in lines["isolated cores"].action
    (tmp_path / "sys/kernel/debug/sched").mkdir(parents=True)
    (tmp_path / "sys/kernel/debug/sched/preempt").write_text("none voluntary (full) lazy\n")
    cpu = tmp_path / "sys/devices/system/cpu"
    (cpu / "cpu0/cpufreq").mkdir(parents=True)
    (cpu / "cpu0/cpufreq/scaling_governor").write_text("powersave\n")
    (cpu / "isolated").write_text("2-3\n")
    lines = {line.what: line for line in check_kernel(tmp_path)}
    assert [lines[what].level for what in ("kernel preemption", "isolated cores")] == [Level.OK, Level.OK]
    assert lines["clock frequency"].level is Level.WARN


def test_what_a_logout_does_to_holders_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Holders outlive the login: logind may kill them, and the arms would fall, or delete their files."""
    monkeypatch.setattr(logout, "_lingers", lambda user, folder: (folder / str(user)).exists())

    def look(kills: bool | None, removes: bool | None, user: int = 1001) -> list[Line]:
        values = {"KillUserProcesses": kills, "RemoveIPC": removes}
        return list(logout.check_logout(values.__getitem__, tmp_path, user))

    assert look(None, None) == [], "no logind"
    assert [line.level for line in look(False, False)] == [Level.OK, Level.OK]
    files = look(False, True)[1]
    assert files.level is Level.WARN and "enable-linger" in files.action and "RemoveIPC=no" in files.action
    processes = look(True, False)[0]
    assert processes.level is Level.FAIL and "KillUserProcesses=no" in processes.action
    assert [line.level for line in look(True, True, user=0)] == [Level.OK, Level.OK], "root is left alone"
    (tmp_path / "1001").touch()
    assert look(False, True)[1].level is Level.OK, "a user who lingers is never quite logged out"


def test_plug_order_names_are_a_warning(bench: Bench) -> None:
    """B32 (e): can0 and can1 change places between boots."""
    bench.text = bench.text.replace("can_left", "can0")
    bench.wires["can0"] = Wire("can0", EmulatedArm(time.monotonic_ns))
    bench.interface("can0", "SN_LEFT")
    lines = bench.lines()
    assert bad(lines) == []
    line = next(line for line in lines if "name can0" in line.what)
    assert line.level is Level.WARN and "udev" in line.action


def test_swapped_sides_are_caught_by_the_adapters_serial_numbers(bench: Bench) -> None:
    """B32 (d): both arms answer, each on the other one's bus."""
    bench.interface("can_left", "SN_RIGHT")
    bench.interface("can_right", "SN_LEFT")
    found = bad(bench.lines())
    assert len(found) == 2
    assert all("sides swapped" in f for f in found)
    assert "the right arm's" in found[0] and "the left arm's" in found[1]


def test_another_adapter_and_one_that_is_not_named(bench: Bench) -> None:
    bench.interface("can_left", "SN_OTHER")
    assert any("SN_OTHER, expected SN_LEFT" in f for f in bad(bench.lines()))
    bench.text = bench.text.replace('"SN_LEFT"', '""')
    line = next(line for line in bench.lines() if "left arm, adapter" in line.what)
    assert line.level is Level.WARN and "SN_OTHER" in line.action


def test_a_silent_motor_is_named_with_its_bus_and_its_id_on_the_wire(bench: Bench) -> None:
    bench.wires["can_left"].arm.motors[4].silent = True
    found = bad(bench.lines())
    assert len(found) == 1
    assert found[0].startswith("left arm, motors on can_left: motor 5 (0x05) silent -> check power, emergency stop")


def test_a_wrong_motor_type_is_named_by_what_is_fitted(bench: Bench) -> None:
    """B32: the type is read from the gear ratio, which cannot be written."""
    kinds = (*YAM_KINDS[:3], "DM4340", *YAM_KINDS[4:])
    bench.wires["can_right"] = Wire("can_right", EmulatedArm(time.monotonic_ns, kinds=kinds))
    found = bad(bench.lines())
    assert any("motor 4 (0x04): Gr is 40, a DM4340, expected 10 of a DM4310" in f for f in found)
    assert any("TMAX" in f for f in found)


def test_a_motor_without_its_timeout_is_a_fail(bench: Bench) -> None:
    bench.wires["can_left"].arm.motors[0].registers.values[TIMEOUT] = 0
    assert any("TIMEOUT is 0, expected 8000" in f and "set_timeout" in f for f in bad(bench.lines()))


def test_a_leader_without_its_handle_is_refused_and_one_arm_alone_is_allowed(bench: Bench) -> None:
    """B32 (a): the text names bus and 0x50E; explicit single-arm mode passes."""
    bench.wires["can_lead_l"].handle = False
    found = bad(bench.lines(leaders=True))
    assert len(found) == 1 and "can_lead_l" in found[0] and "0x50E" in found[0]
    assert bad(bench.lines(leaders=True, arm="right")) == []


def test_a_follower_on_a_leaders_bus_is_the_wrong_device(bench: Bench) -> None:
    """B32 (c)."""
    bench.wires["can_lead_l"].arm.motors[6].silent = False
    found = bad(bench.lines(leaders=True))
    assert len(found) == 1 and "wrong device: motor 7 (0x07) answer" in found[0]


def test_a_leader_on_a_followers_bus_is_the_wrong_device(bench: Bench) -> None:
    """B32 (c)."""
    bench.wires["can_left"].arm.motors[6].silent = True
    bench.wires["can_left"].handle = True
    found = bad(bench.lines())
    assert len(found) == 1 and "wrong device: a leader with a handle (0x50E)" in found[0]


def test_a_leader_of_encoders_alone_must_have_no_motors(bench: Bench) -> None:
    """B32 (c): the configured leader bus carries motor replies."""
    bench.text = bench.text.replace("[safety]", LEADERS.replace("teaching_handle", "encoders") + "[safety]", 1)
    found = bad(bench.lines())
    assert any("wrong device: motor 1 (0x01), motor 2" in f for f in found)


def test_limits_wider_than_the_arm_are_a_fail_and_near_ones_a_warning(bench: Bench) -> None:
    good = "upper_rad = [3.09, 3.61, 3.09, 1.52, 1.52, 2.04]"
    bench.text = bench.text.replace(good, "upper_rad = [3.3, 3.61, 3.09, 1.52, 1.52, 2.04]", 1)
    assert any("joints [1] reach beyond" in f for f in bad(bench.lines()))
    bench.text = bench.text.replace("upper_rad = [3.3, ", "upper_rad = [3.13, ", 1)
    line = next(line for line in bench.lines() if line.what == "left arm, joint limits")
    assert line.level is Level.WARN and "joints [1]" in line.found


def test_a_bundle_with_other_cameras_is_a_fail_with_both_sets(bench: Bench) -> None:
    """B19's kind, before anything is loaded."""
    bench.text = bench.text.replace('role = "top"', 'role = "front"')
    found = bad(bench.lines(bundle=BUNDLE))
    assert any("'top'" in f and "'front'" in f for f in found)


def test_the_shipped_bundle_fits_the_example_station_and_a_folder_without_one_does_not(bench: Bench) -> None:
    assert bad(bench.lines(bundle=BUNDLE)) == []
    assert any("policy.toml" in f for f in bad(bench.lines(bundle=bench.folder)))


def test_a_full_disk_is_a_fail(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computer, "EMPTY_BYTES", 10**18)
    assert any("disk of" in f for f in bad(bench.lines()))


def test_missing_real_time_rights_are_a_warning_that_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computer.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(computer.resource, "getrlimit", lambda which: (0, 0))
    lines = list(computer.check_rights())
    assert [line.level for line in lines] == [Level.WARN, Level.WARN]
    assert all("limits.conf" in line.action for line in lines)


def test_the_gear_ratio_decides_and_not_the_scales(bench: Bench) -> None:
    bench.wires["can_left"].arm.motors[0].registers.values[GR] = 10.0
    found = bad(bench.lines())
    assert len(found) == 1 and "Gr is 10, a DM4310 or DM4310V" in found[0]


def _run(*arguments: str) -> tuple[int, str, str]:
    command = [sys.executable, "-c", "from robot_client.cli import main; main()", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_command_exits_1_on_a_fail_and_its_json_says_the_same() -> None:
    code, out, err = _run("doctor", "--station", "yam_example", "--json")
    assert code == 1, err
    answer = json.loads(out)
    assert answer["ok"] is False
    assert {"level", "what", "found", "action"} == set(answer["lines"][0])
    assert any(line["level"] == "FAIL" and "can_left" in line["what"] for line in answer["lines"])


def test_the_command_exits_0_when_nothing_fails() -> None:
    code, out, _ = _run("doctor", "--station", "twin")
    assert code == 0
    assert "no real arms" in out


def test_json_and_exit_code_come_from_the_same_lines() -> None:
    lines = [Line(Level.OK, "a", "b"), Line(Level.FAIL, "c", "d", "e")]
    assert failed(lines) and json.loads(as_json(lines))["ok"] is False
    assert not failed(lines[:1]) and json.loads(as_json(lines[:1]))["ok"] is True
    assert str(lines[1]) == "FAIL  c: d\n      -> e"
