"""H.264 files of recorded images."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray


class Video:
    """One H.264 file at a fixed rate."""

    def __init__(self, path: Path, rate: Fraction, height: int, width: int) -> None:
        """height and width are even, as H.264 wants them."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._container = av.open(str(path), "w")
        self._stream: Any = self._container.add_stream("libx264", rate=rate)
        self._stream.height, self._stream.width = height, width
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "18", "g": "2"}
        self._stream.codec_context.time_base = 1 / rate
        self._count = 0

    def add(self, image: NDArray[np.uint8]) -> None:
        """One frame (H, W, 3) RGB; an odd row or column is cut off."""
        frame = av.VideoFrame.from_ndarray(image[: self._stream.height, : self._stream.width].copy(), format="rgb24")
        frame.pts = self._count
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def close(self) -> None:
        """The file plays afterwards."""
        self._container.mux(self._stream.encode(None))
        self._container.close()


def video_feature(height: int, width: int, rate: float) -> dict[str, Any]:
    """What LeRobot wants to know of such a file."""
    return {
        "dtype": "video",
        "shape": [height, width, 3],
        "names": ["height", "width", "channels"],
        "info": {
            "video.height": height,
            "video.width": width,
            "video.channels": 3,
            "video.codec": "h264",
            "video.pix_fmt": "yuv420p",
            "video.is_depth_map": False,
            "video.fps": rate,
            "has_audio": False,
        },
    }
