"""A camera's process: newest frame with its stamp, lost devices opened anew a bounded number of times."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from contract.errors import ConfigurationError, RigError
from contract.station import Camera, load_station
from robot_client.cameras.config import CameraConfig, config_of
from robot_client.cameras.pattern import number_in, picture
from robot_client.cameras.process import MOST_TRIES, CameraProcess
from robot_client.cameras.realsense import RealsenseSource
from robot_client.cameras.source import Captured, make_source
from robot_client.cameras.start import Cameras, devices
from robot_client.cameras.status import CameraStatus, status_path, unpack_status
from robot_client.cameras.v4l2 import V4l2Source, serial_of
from robot_client.clock import NS_PER_S
from robot_client.mailbox import MailboxReader
from robot_client.rigs.mailbox_frames import MailboxFrames
from tests.robot_client.cameras.test_real_line import film

STATION = load_station("yam_example")


def config(folder: Path, device: str = "pattern:test", **changes: object) -> CameraConfig:
    values = {"role": "top", "device": device, "height": 24, "width": 32, "rate_hz": 500.0, "frames_dir": str(folder)}
    return CameraConfig.model_validate({**values, **changes})


class Flaky:
    """Delivers a few frames after each successful opening."""

    serial = "SN1"

    def __init__(self, openings: list[int]) -> None:
        self.openings, self.left, self.opened, self.closed = openings, 0, 0, 0

    def open(self) -> None:
        self.opened += 1
        self.left = self.openings.pop(0) if self.openings else 0
        if self.left == 0:
            raise RigError("camera", got="unplugged")

    def read(self) -> Captured:
        if self.left == 0:
            raise RigError("camera", got="no frame")
        self.left -= 1
        return Captured(picture("a", 24, 32, self.left), time.monotonic_ns())

    def close(self) -> None:
        self.closed += 1


def status_of(folder: Path) -> CameraStatus:
    letter = MailboxReader(status_path(folder, "top")).newest()
    assert letter is not None
    return unpack_status(letter)


def test_a_lost_camera_is_opened_anew_and_given_up_in_the_end(tmp_path: Path) -> None:
    source, pauses, said = Flaky([3, 0, 0, 2]), [], []
    process = CameraProcess(config(tmp_path), source, lambda: False, said.append, pauses.append)
    with pytest.raises(RigError, match=f"given up after {MOST_TRIES} tries"):
        process.run()
    assert source.opened == source.closed == 3 + MOST_TRIES
    assert pauses[:3] == [0.1, 0.2, 0.4] and max(pauses) == 1.0
    assert sum("delivers again" in line for line in said) == 1
    status = status_of(tmp_path)
    assert (status.state, status.frames, status.serial) == ("given up", 5, "SN1")
    assert status.reconnects == 3 + MOST_TRIES and "unplugged" in status.trouble
    frame = MailboxFrames(tmp_path, ["top"]).frames()["top"]
    assert number_in(frame.image) == 0


def test_frames_carry_their_capture_stamp_and_their_picture(tmp_path: Path) -> None:
    frames = MailboxFrames(tmp_path, ["top"])
    numbers: list[int] = []
    begun_ns = time.monotonic_ns()

    def over() -> bool:
        if "top" in frames.frames():
            frame = frames.frames()["top"]
            numbers.append(number_in(frame.image))
            assert begun_ns <= frame.stamp_ns <= time.monotonic_ns()
        return len(numbers) > 10

    settings = config(tmp_path)
    CameraProcess(settings, make_source(settings), over, lambda line: None).run()
    assert numbers == sorted(numbers) and numbers[-1] >= 8
    status = status_of(tmp_path)
    assert (status.state, status.how, status.serial) == ("delivering", "device", "pattern-test")


def test_a_video_is_played_again_and_again_at_the_cameras_size(tmp_path: Path) -> None:
    source = make_source(config(tmp_path, f"file:{film(tmp_path / 'a.mp4')}"))
    source.open()
    means = [float(source.read().image.mean()) for _ in range(12)]
    assert source.read().image.shape == (24, 32, 3)
    assert means[0] < means[4] and means[5] == pytest.approx(means[0], abs=1.0)
    source.close()
    missing = make_source(config(tmp_path, "file:/nowhere.mp4"))
    with pytest.raises(RigError, match=r"no /nowhere\.mp4"):
        missing.open()


@pytest.mark.parametrize("device", ["toaster:1", "pattern:", "v4l2", "twin:top"])
def test_a_device_of_no_known_kind_is_refused_with_the_list(tmp_path: Path, device: str) -> None:
    with pytest.raises(ConfigurationError, match="v4l2, realsense, file, pattern"):
        make_source(config(tmp_path, device))


def test_a_camera_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RigError, match="by-id"):
        V4l2Source(config(tmp_path), "/dev/v4l/by-id/none").open()


def test_the_serial_number_of_a_usb_camera_is_read_from_the_kernel_and_must_be_the_stations(tmp_path: Path) -> None:
    """The station's `serial` was looked at by the doctor alone: a run took pictures of exchanged wrist cameras."""
    usb = tmp_path / "usb" / "1-1"
    (usb / "1-1:1.0").mkdir(parents=True)
    (usb / "serial").write_text("CAM42\n")
    (tmp_path / "sys" / "video3").mkdir(parents=True)
    (tmp_path / "sys" / "video3" / "device").symlink_to(usb / "1-1:1.0")
    (tmp_path / "video3").write_text("")
    (tmp_path / "by-id").symlink_to(tmp_path / "video3")
    assert serial_of(tmp_path / "by-id", tmp_path / "sys") == "CAM42"
    assert serial_of(tmp_path / "video9", tmp_path / "sys") == ""
    camera = STATION.cameras[0].model_copy(update={"device": f"v4l2:{tmp_path / 'by-id'}", "serial": "CAM43"})
    asked = config_of(camera, camera.device, tmp_path)
    with pytest.raises(RigError, match=r"(?s)CAM43.*CAM42.*exchanged"):
        V4l2Source(asked, str(tmp_path / "by-id"), tmp_path / "sys").open()
    assert config_of(camera, "pattern:chosen", tmp_path).serial == "", "a person chose another device"


def test_a_realsense_without_its_library_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyrealsense2", None)
    with pytest.raises(RigError, match="pip install pyrealsense2"):
        RealsenseSource(config(tmp_path), "123").open()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """As much of pyrealsense2 as is used, with one camera 123 that gives one frame; made up, no device was tried."""
    fake = ModuleType("pyrealsense2")
    frame = SimpleNamespace(get_data=lambda: np.full((24, 32, 3), 9, np.uint8), get_timestamp=lambda: 1234.5)
    shots = iter([frame])

    class Pipeline:
        def start(self, settings: object) -> None:
            assert settings.serial == "123"  # type: ignore[attr-defined]

        def wait_for_frames(self, wait_ms: int) -> object:
            shot = next(shots, None)
            if shot is None:
                raise RuntimeError("Frame didn't arrive within 1000")
            return SimpleNamespace(get_color_frame=lambda: shot)

        def stop(self) -> None:
            pass

    class Config:
        serial = ""

        def enable_device(self, serial: str) -> None:
            self.serial = serial

        def enable_stream(self, *what: object) -> None:
            assert what[1:3] == (32, 24)

    device = SimpleNamespace(get_info=lambda which: "123")
    fake.context = lambda: SimpleNamespace(query_devices=lambda: [device])  # type: ignore[attr-defined]
    fake.camera_info = SimpleNamespace(serial_number=1)  # type: ignore[attr-defined]
    fake.stream, fake.format = SimpleNamespace(color=1), SimpleNamespace(rgb8=1)  # type: ignore[attr-defined]
    fake.config, fake.pipeline = Config, Pipeline  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyrealsense2", fake)
    yield fake


def test_a_realsense_is_found_by_its_serial_number(tmp_path: Path, library: ModuleType) -> None:
    with pytest.raises(RigError, match="RealSense 999, got 123"):
        RealsenseSource(config(tmp_path), "999").open()
    source = RealsenseSource(config(tmp_path), "123")
    source.open()
    captured = source.read()
    assert (captured.device_ns, captured.clock, source.serial) == (1_234_500_000, "own", "123")
    with pytest.raises(RigError, match="USB 3"):
        source.read()
    source.close()


def test_a_person_may_choose_devices_and_emulated_arms_need_none() -> None:
    assert devices(STATION, {})["top"].startswith("realsense:")
    assert devices(STATION, {"top": "file:a.mp4"})["top"] == "file:a.mp4"
    arms = STATION.arms.model_copy(update={"bus": "emulated"}) if STATION.arms else None
    emulated = STATION.model_copy(update={"arms": arms})
    assert devices(emulated, {"top": "v4l2:/dev/video0"}) == {
        "top": "v4l2:/dev/video0", "left_wrist": "pattern:left_wrist", "right_wrist": "pattern:right_wrist",
    }  # fmt: skip
    with pytest.raises(ConfigurationError, match="front"):
        devices(STATION, {"front": "pattern:x"})


def test_a_camera_that_ends_at_the_start_is_named_with_its_last_words(tmp_path: Path) -> None:
    camera = Camera(role="top", device="file:/nowhere.mp4", height=24, width=32, rate_hz=10.0)
    station = STATION.model_copy(update={"cameras": (camera,)})
    cameras = Cameras(station, {"top": "toaster:1"}, tmp_path, tmp_path)
    with pytest.raises(ConfigurationError, match="toaster:1"):
        list(cameras.start())
    assert config_of(camera, "pattern:a", tmp_path).rate_hz == 10.0


class Standing:
    """A picture a tenth of a second for as long as `pictures` last; arrivals are by the clock of the test."""

    serial = "SN1"

    def __init__(self, pictures: list[int]) -> None:
        self.pictures, self.start_ns = pictures, time.monotonic_ns() - 10 * NS_PER_S
        self.at = 0

    def open(self) -> None:
        """Ready."""

    def read(self) -> Captured:
        self.at += 1
        image = picture("a", 24, 32, self.pictures[self.at - 1])
        return Captured(image, self.start_ns + self.at * NS_PER_S // 10)

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize("device, newest", [("v4l2:/dev/video0", 12), ("realsense:1", 12), ("file:a.png", 30)])
def test_a_camera_that_repeats_one_picture_under_new_stamps_grows_old(tmp_path: Path, device: str, newest: int) -> None:
    """A sensor or driver that had stopped but went on delivering its last picture looked as fresh as a live one: the
    policy went on acting on it. Real pictures are never the same to the last byte; made-up ones may be."""
    source, said = Standing([1, 2] + [3] * 28), []
    CameraProcess(config(tmp_path, device), source, lambda: source.at == 30, said.append).run()
    frames = MailboxFrames(tmp_path, ["top"])
    number = (frames.frames()["top"].stamp_ns - source.start_ns) * 10 / NS_PER_S
    assert number == newest, "the last one within a second after the picture came first, or the last one of all"
    warned = [line for line in said if "same picture" in line]
    assert len(warned) == (newest < 30)
    assert status_of(tmp_path).state == ("frozen" if warned else "delivering")


def test_a_camera_that_sees_again_is_passed_on_again(tmp_path: Path) -> None:
    source, said = Standing([3] * 15 + [4]), []
    CameraProcess(config(tmp_path, "v4l2:/dev/video0"), source, lambda: source.at == 16, said.append).run()
    assert number_in(MailboxFrames(tmp_path, ["top"]).frames()["top"].image) == 4
    assert [line for line in said if "same picture" in line or "sees again" in line] == [
        "camera top sends the same picture again and again: plug it in anew",
        "camera top sees again",
    ]
