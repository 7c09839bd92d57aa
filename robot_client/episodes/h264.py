"""Camera frames as H.264, an access unit a frame, on one thread: what Foxglove calls a compressed video."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import av
import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError

FORM: Final = "h264"
_QUALITY: Final = "20"
"""x264's constant rate factor. Lower is better and larger; 18 is called visually lossless."""


class H264Encoder:
    """`encode` frames of one size in order. Every unit decodes at once (no B-frames); a keyframe comes once a second,
    so that a cut costs at most that.

    `ultrafast`, without look-ahead and on one thread, so the cost of a frame is small and does not wander. Raises
    `EpisodeError` for a size that is not even, or another than the first.
    """

    def __init__(self, height: int, width: int, rate_hz: float) -> None:
        if height % 2 or width % 2:
            raise EpisodeError("H.264 frame", expected="even sides", got=f"{width}x{height}", remedy="record JPEG")
        self._shape = (height, width, 3)
        rate = Fraction(rate_hz).limit_denominator(1000)
        encoder: Any = av.CodecContext.create("libx264", "w")
        encoder.height, encoder.width, encoder.pix_fmt = height, width, "yuv420p"
        encoder.time_base, encoder.framerate = 1 / rate, rate
        encoder.gop_size = max(1, round(rate_hz))
        encoder.options = {"preset": "ultrafast", "tune": "zerolatency", "bf": "0", "crf": _QUALITY}
        encoder.thread_count = 1
        self._encoder = encoder
        self._count = 0

    def encode(self, image: NDArray[np.uint8]) -> bytes:
        """The access unit (Annex B) of (H, W, 3) RGB."""
        if image.shape != self._shape:
            raise EpisodeError("H.264 frame", expected=self._shape, got=image.shape)
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
        frame.pts = self._count
        self._count += 1
        return b"".join(bytes(packet) for packet in self._encoder.encode(frame))
