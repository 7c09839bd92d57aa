"""Frames as captured: each once, under its own stamp, and a camera that falls silent makes the episode incomplete."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.episodes.cameras import CameraWatch
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.info import info_of
from robot_client.episodes.observations import image_of
from robot_client.episodes.reader import BagReader
from robot_client.rigs.base import Frame
from tests.robot_client.episodes import made
from tests.robot_client.stage import STATION

RATE_HZ = STATION.cameras[0].rate_hz


class Cameras:
    """Frames at the station's rate; `unplugged` roles keep their last one."""

    def __init__(self, recording: made.Recording) -> None:
        self._recording = recording
        self.unplugged: dict[str, int] = {}

    def frames(self) -> Mapping[str, Frame]:
        now_ns = self._recording.clock.now_ns()
        found = {}
        for role in made.ROLES:
            at_ns = min(now_ns, self.unplugged.get(role, now_ns))
            stamp_ns = at_ns - at_ns % int(NS_PER_S / RATE_HZ)
            shade = stamp_ns // int(NS_PER_S / RATE_HZ) % 200
            found[role] = Frame(role, np.full((48, 64, 3), shade, np.uint8), stamp_ns)
        return found


def recorded(tmp_path: Path, seconds: float, unplug: str = "", unplug_s: float = 0.0) -> made.Recording:
    recording = made.Recording(tmp_path)
    cameras = Cameras(recording)
    if unplug:
        cameras.unplugged[unplug] = made.START_NS + int(unplug_s * NS_PER_S)
    watch = CameraWatch(cameras, STATION.cameras, made.TIME, recording.bag.add, recording.clock.now_ns())
    recording.recorder._cameras = watch
    end_ns = made.START_NS + int(seconds * NS_PER_S)
    while recording.clock.now_ns() < end_ns:
        recording.recorder.step()
        recording.clock.advance(5 * NS_PER_MS)
    return recording


def test_every_frame_is_there_once_under_its_stamp(tmp_path: Path) -> None:
    recording = recorded(tmp_path, 3.0)
    assert recording.close().complete
    decode = Decoder()
    for role in made.ROLES:
        messages = list(BagReader(recording.folder).messages([f"/{role}/image_raw/compressed"]))
        assert [message.sequence for message in messages] == list(range(len(messages)))
        assert len(messages) - int(3.0 * RATE_HZ) in (0, 1)
        steps = np.diff([message.log_ns for message in messages])
        assert (steps == int(NS_PER_S / RATE_HZ)).all()
        shades = [int(image_of(bytes(decode(message).data)).mean()) for message in messages]
        assert (np.diff(shades) == 1).all()


def test_a_camera_unplugged_in_the_middle_is_named_and_the_episode_kept(tmp_path: Path) -> None:
    """B38: the rest is recorded on; the file says what is missing."""
    recording = recorded(tmp_path, 5.0, unplug="left_wrist", unplug_s=2.0)
    status = recording.close()
    assert not status.complete and "left_wrist" in status.trouble
    found = info_of(recording.folder)
    assert not found.complete and any("left_wrist" in line for line in found.missing)
    assert found.counts["/top/image_raw/compressed"] in (50, 51)
    assert found.counts["/left_wrist/image_raw/compressed"] in (20, 21)
