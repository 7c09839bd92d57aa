"""A USB camera through Video4Linux, by a path under /dev/v4l/by-id, which stays with the device."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Final

from contract.errors import RigError
from robot_client.cameras.config import CameraConfig
from robot_client.cameras.source import Captured
from robot_client.images import as_rgb

_VIDEO: Final = Path("/sys/class/video4linux")
_LEVELS_UP: Final = 4
_WAIT_S: Final = "1"
"""Longest wait for a frame: OpenCV's own is 10 s."""


class V4l2Source:
    """`v4l2:/dev/...`. The kernel stamps buffers of USB cameras on the monotonic clock; OpenCV hands that on."""

    def __init__(self, config: CameraConfig, name: str, sys_video: Path = _VIDEO) -> None:
        self._config, self._path, self._sys_video = config, Path(name), sys_video
        self._video: Any = None
        self.serial = ""

    def open(self) -> None:
        os.environ.setdefault("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", _WAIT_S)
        import cv2

        if not self._path.exists():
            raise self._trouble("the device", f"no {self._path}", "plug it in; name it by /dev/v4l/by-id, which stays")
        self.serial = serial_of(self._path, self._sys_video)
        if self._config.serial not in ("", self.serial):
            wanted, found = f"serial number {self._config.serial}", self.serial or "none"
            raise self._trouble(wanted, found, "cameras are exchanged: plug the right one in, or mend the station file")
        self._video = cv2.VideoCapture(str(self._path.resolve()), cv2.CAP_V4L2)
        if not self._video.isOpened():
            raise self._trouble("a camera that opens", "none, or one that is in use", "end the program that uses it")
        for setting, value in (
            (cv2.CAP_PROP_FRAME_WIDTH, self._config.width),
            (cv2.CAP_PROP_FRAME_HEIGHT, self._config.height),
            (cv2.CAP_PROP_FPS, self._config.rate_hz),
            (cv2.CAP_PROP_BUFFERSIZE, 1),
        ):
            self._video.set(setting, value)

    def read(self) -> Captured:
        """The next frame; `RigError` when none comes, or one of another size than the station says."""
        import cv2

        there, image = self._video.read()
        arrival_ns = time.monotonic_ns()
        if not there:
            raise self._trouble("a frame", "none within a second", "check cable and USB bandwidth")
        if image.shape[:2] != (self._config.height, self._config.width):
            size = f"{image.shape[1]}x{image.shape[0]}"
            raise self._trouble(f"{self._config.width}x{self._config.height}", size, "name a size that it has")
        stamp_ms = self._video.get(cv2.CAP_PROP_POS_MSEC)
        return Captured(as_rgb(image, "bgr8"), arrival_ns, int(stamp_ms * 1e6) if stamp_ms > 0.0 else None, "host")

    def close(self) -> None:
        if self._video is not None:
            self._video.release()
            self._video = None

    def _trouble(self, expected: str, got: str, remedy: str) -> RigError:
        return RigError(f"camera {self._config.role} ({self._path})", expected=expected, got=got, remedy=remedy)


def serial_of(device: Path, sys_video: Path = _VIDEO) -> str:
    """Serial number of the USB device behind /dev/videoN; empty when there is none."""
    at = (sys_video / device.resolve().name / "device").resolve()
    for place in [at, *at.parents][:_LEVELS_UP]:
        try:
            return (place / "serial").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            continue
    return ""
