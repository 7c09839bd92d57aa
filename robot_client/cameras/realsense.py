"""A RealSense camera by its serial number, through pyrealsense2, which is installed by whoever has one."""

from __future__ import annotations

import importlib
import time
from types import ModuleType
from typing import Any, Final

import numpy as np

from contract.errors import RigError
from robot_client.cameras.config import CameraConfig
from robot_client.cameras.source import Captured

_WAIT_MS: Final = 1000


class RealsenseSource:
    """`realsense:SERIAL`. Its stamps are milliseconds of a clock of its own, mapped by `stamps.StampMap`."""

    def __init__(self, config: CameraConfig, name: str) -> None:
        self._config, self._wanted = config, name
        self._pipeline: Any = None
        self.serial = ""

    def open(self) -> None:
        library = load(self._config.role)
        found = serials(library)
        if self._wanted not in found:
            raise RigError(
                f"camera {self._config.role}",
                expected=f"RealSense {self._wanted}",
                got=", ".join(found) or "no RealSense at all",
                remedy="plug it in, or write the right serial number into the station file",
            )
        settings = library.config()
        settings.enable_device(self._wanted)
        settings.enable_stream(
            library.stream.color,
            self._config.width,
            self._config.height,
            library.format.rgb8,
            round(self._config.rate_hz),
        )
        pipeline = library.pipeline()
        try:
            pipeline.start(settings)
        except RuntimeError as error:
            raise self._trouble(
                f"{self._config.width}x{self._config.height} at {self._config.rate_hz:g} Hz", error
            ) from error
        self._pipeline, self.serial = pipeline, self._wanted

    def read(self) -> Captured:
        """The next colour frame."""
        try:
            frame = self._pipeline.wait_for_frames(_WAIT_MS).get_color_frame()
        except RuntimeError as error:
            raise self._trouble(f"a frame within {_WAIT_MS} ms", error) from error
        arrival_ns = time.monotonic_ns()
        image = np.array(frame.get_data(), np.uint8)
        return Captured(image, arrival_ns, int(frame.get_timestamp() * 1e6), "own")

    def close(self) -> None:
        pipeline, self._pipeline = self._pipeline, None
        if pipeline is not None:
            pipeline.stop()

    def _trouble(self, expected: str, error: RuntimeError) -> RigError:
        what = f"camera {self._config.role} (RealSense {self._wanted})"
        return RigError(what, expected=expected, got=error, remedy="check its cable: it needs USB 3")


def load(role: str) -> ModuleType:
    """The library. Raises `RigError` saying how to get it."""
    try:
        return importlib.import_module("pyrealsense2")
    except ImportError as error:
        raise RigError(
            f"camera {role}", expected="pyrealsense2", got=str(error), remedy="pip install pyrealsense2"
        ) from error


def serials(library: ModuleType) -> list[str]:
    """Serial numbers of all that are plugged in."""
    return [str(device.get_info(library.camera_info.serial_number)) for device in library.context().query_devices()]
