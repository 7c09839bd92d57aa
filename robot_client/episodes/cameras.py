"""Every frame of every camera as it was captured, as JPEG or H.264, read by the recorder itself from the rig."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError, RigError
from contract.station import Camera
from robot_client.clock import NS_PER_S
from robot_client.episodes import ros_messages as ros
from robot_client.episodes.channels import camera_topic, video_topic
from robot_client.episodes.h264 import FORM, H264Encoder
from robot_client.episodes.ros_time import RosTime
from robot_client.images import swapped
from robot_client.rigs.base import Frame

Codec = Literal["jpeg", "h264"]
QUALITY: Final = 90
SILENT_NS: Final = NS_PER_S
"""A camera without a frame for this long is missing from the episode."""
_FIRST_NS: Final = 10 * NS_PER_S
"""Patience for the first one."""
_EARLY: Final = 0.8
"""Share of a camera's period after which the next frame is looked for; looking copies the newest one."""


class FrameSource(Protocol):
    """What is needed of a rig."""

    def frames(self) -> Mapping[str, Frame]:
        """The newest frame of each role."""


class CameraWatch:
    """`look` often; each new frame is added once, under its own stamp and a running number."""

    def __init__(
        self,
        rig: FrameSource,
        cameras: Sequence[Camera],
        time: RosTime,
        add: Callable[[str, int, int, bytes], None],
        now_ns: int,
        codec: Codec = "jpeg",
    ) -> None:
        """h264: of cameras with even sides; others stay JPEG, and have their own topic as ever."""
        self._rig, self._time, self._add = rig, time, add
        self._newest: dict[str, int] = {}
        self._numbers = {camera.role: 0 for camera in cameras}
        fastest_hz = max((camera.rate_hz for camera in cameras), default=1.0)
        self._pause_ns = int(_EARLY * NS_PER_S / fastest_hz)
        self._next_ns = self._begun_ns = now_ns
        self._silent: dict[str, int] = {}
        self._codec = codec
        self._rates = {camera.role: float(camera.rate_hz) for camera in cameras}
        self._encoders: dict[str, H264Encoder] = {}

    @property
    def trouble(self) -> str:
        """Cameras that were silent for a while; empty when all was well."""
        lines = [f"camera {role} gave nothing for {ns / NS_PER_S:.1f} s" for role, ns in self._silent.items()]
        return "; ".join(lines)

    def look(self, now_ns: int) -> None:
        """Take what is new."""
        if now_ns < self._next_ns:
            return
        try:
            frames = self._rig.frames()
        except RigError:
            frames = {}
        new = [frame for role, frame in frames.items() if frame.stamp_ns > self._newest.get(role, -1)]
        for frame in new:
            self._take(frame)
        if new:
            self._next_ns = now_ns + self._pause_ns
        self._watch_silence(now_ns)

    def _take(self, frame: Frame) -> None:
        self._newest[frame.role] = frame.stamp_ns
        number = self._numbers.get(frame.role, 0)
        self._numbers[frame.role] = number + 1
        ros_ns = self._time.of(frame.stamp_ns)
        frame_id = f"{frame.role}_camera"
        height, width = frame.image.shape[:2]
        if self._codec == "h264" and height % 2 == width % 2 == 0:
            data = ros.compressed_video(ros_ns, frame_id, FORM, self._encoder(frame).encode(frame.image))
            self._add(video_topic(frame.role), number, ros_ns, data)
        else:
            data = ros.compressed_image(ros_ns, frame_id, "jpeg", jpeg_of(frame.image))
            self._add(camera_topic(frame.role), number, ros_ns, data)

    def _encoder(self, frame: Frame) -> H264Encoder:
        if frame.role not in self._encoders:
            height, width = frame.image.shape[:2]
            self._encoders[frame.role] = H264Encoder(height, width, self._rates.get(frame.role, 30.0))
        return self._encoders[frame.role]

    def _watch_silence(self, now_ns: int) -> None:
        for role in self._numbers:
            first = role not in self._newest
            silent_ns = now_ns - (self._begun_ns if first else self._newest[role])
            if silent_ns > (_FIRST_NS if first else SILENT_NS):
                self._silent[role] = max(silent_ns, self._silent.get(role, 0))


def jpeg_of(image: NDArray[np.uint8]) -> bytes:
    """(H, W, 3) uint8 RGB as JPEG."""
    done, data = cv2.imencode(".jpg", swapped(image), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    if not done:
        raise EpisodeError("camera frame", expected="(height, width, 3) uint8", got=f"{image.shape} {image.dtype}")
    return bytes(data)
