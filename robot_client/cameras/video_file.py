"""A video or a picture played again and again: stands for a camera where there is none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from contract.errors import RigError
from robot_client.cameras.config import CameraConfig
from robot_client.cameras.source import Captured
from robot_client.clock import NS_PER_S
from robot_client.images import fit


class FileSource:
    """`file:PATH`, at the camera's rate and size whatever the file's are."""

    def __init__(self, config: CameraConfig, name: str) -> None:
        self._config, self._path = config, Path(name)
        self._frames: Iterator[NDArray[np.uint8]] = iter(())
        self._next_ns = 0
        self.serial = f"file-{self._path.name}"

    def open(self) -> None:
        if not self._path.is_file():
            raise self._trouble("a video or picture", f"no {self._path}")
        self._frames, self._next_ns = self._again(), time.monotonic_ns()

    def read(self) -> Captured:
        """The next frame; after the last one the first."""
        image = fit(next(self._frames), self._config.height, self._config.width)
        time.sleep(max(0.0, (self._next_ns - time.monotonic_ns()) / NS_PER_S))
        now_ns = time.monotonic_ns()
        self._next_ns = max(self._next_ns + int(NS_PER_S / self._config.rate_hz), now_ns)
        return Captured(image, now_ns, now_ns, "host")

    def close(self) -> None:
        self._frames = iter(())

    def _again(self) -> Iterator[NDArray[np.uint8]]:
        while True:
            shown = 0
            try:
                with av.open(str(self._path)) as video:
                    for frame in video.decode(video=0):
                        shown += 1
                        yield np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
            except av.FFmpegError as error:
                raise self._trouble("a video", f"{self._path}: {error}") from error
            if not shown:
                raise self._trouble("frames", f"none in {self._path}")

    def _trouble(self, expected: str, got: str) -> RigError:
        return RigError(f"camera {self._config.role}", expected=expected, got=got, remedy="name another file")
