"""The run as an mp4: what the twin did, beside what the policy imagined at that time."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

PANEL_PX = 240
"""Width of the imagined canvas beside the overview, where nothing else is said."""
CAPTION_PX = 36


class Film:
    """H.264 at a fixed rate; every frame is one overview picture with the newest imagined frame beside it.

    Nothing here raises when the file cannot be written: `trouble` says why, and the film is given up.
    """

    def __init__(
        self, path: Path, rate_hz: int, overview_height: int, overview_width: int, panel_px: int = PANEL_PX
    ) -> None:
        self._path, self._rate_hz, self._panel_px = path, rate_hz, panel_px
        self._size = (overview_height + CAPTION_PX, overview_width + panel_px)
        self._container: Any = None
        self._stream: Any = None
        self.frames = 0
        self.trouble = ""
        """Why there is no film; empty = there is one."""

    def open(self) -> None:
        """Creates the file."""
        try:
            self._container = av.open(str(self._path), "w")
        except (OSError, av.FFmpegError) as error:
            self._give_up(error)
            return
        height, width = (side - side % 2 for side in self._size)
        self._stream = self._container.add_stream("libx264", rate=self._rate_hz)
        self._stream.height, self._stream.width, self._stream.pix_fmt = height, width, "yuv420p"
        self._stream.options = {"preset": "ultrafast", "crf": "24"}
        self._stream.codec_context.time_base = Fraction(1, self._rate_hz)
        # One thread: the film must not take the cores that the policy and the loop run on.
        self._stream.codec_context.thread_count = 1

    def add(self, overview: NDArray, imagined: NDArray | None, caption: str) -> None:
        """One frame; `overview` (H, W, 3) and `imagined` (h, w, 3) are uint8 RGB."""
        if self._container is None:
            return
        frame = av.VideoFrame.from_ndarray(self._compose(overview, imagined, caption), format="rgb24")
        frame.pts = self.frames
        self.frames += 1
        self._write(frame)

    def close(self) -> None:
        """Writes what is left; the file plays afterwards."""
        if self._container is not None and self.frames:
            self._write(None)
        if self._container is None:
            return
        try:
            self._container.close()
            self._container = None
        except (OSError, av.FFmpegError) as error:
            self._give_up(error)

    def _write(self, frame: av.VideoFrame | None) -> None:
        try:
            self._container.mux(self._stream.encode(frame))
        except (OSError, av.FFmpegError) as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """Nothing is written after an error: the muxer crashes the process when it is. Half a film plays nowhere."""
        self.trouble = f"film {self._path}: {error} (the run goes on without it; check disk and folder)"
        if self._container is not None:
            with suppress(OSError, av.FFmpegError):
                self._container.close()
            self._container = None
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _compose(self, overview: NDArray, imagined: NDArray | None, caption: str) -> NDArray:
        height, width = (side - side % 2 for side in self._size)
        page = np.full((height, width, 3), 24, np.uint8)
        shown = overview[: height - CAPTION_PX, : width - self._panel_px]
        page[: shown.shape[0], : shown.shape[1]] = shown
        left = width - self._panel_px + 8
        _letter(page, "imagined", (left, 20))
        if imagined is not None:
            panel = _fit(imagined, self._panel_px - 16)
            page[30 : 30 + panel.shape[0], left : left + panel.shape[1]] = panel[: height - 30]
        _letter(page, caption, (8, height - 12))
        return page


def _fit(image: NDArray, width: int) -> NDArray:
    height = max(1, round(image.shape[0] * width / image.shape[1]))
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_NEAREST)


def _letter(page: NDArray, text: str, at: tuple[int, int]) -> None:
    cv2.putText(page, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.45, (235, 235, 235), 1, cv2.LINE_AA)
