"""Compressed video as messages, an access unit each, decoded one after the other."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterator
from typing import Any, Final

import av
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from contract.errors import EpisodeError

CODECS: Final = {"h264": "h264", "h265": "hevc", "hevc": "hevc"}
"""Names in the `format` of foxglove.CompressedVideo and sensor_msgs/CompressedImage -> FFmpeg's."""


class VideoUnits:
    """One stream. Frames leave in the order of their stamps, also when units were stored in another one.

    Units before the first keyframe show nothing and are counted in `lost`. `tolerant`: so are units that do not decode;
    else they raise `EpisodeError`.
    """

    def __init__(self, form: str, tolerant: bool = False) -> None:
        if form not in CODECS:
            raise EpisodeError("video", expected="h264 or h265", got=form or "no format")
        self._codec, self._tolerant = CODECS[form], tolerant
        self._decoder = self._new()
        self._stamps: list[int] = []
        self._started = False
        self.lost = 0
        """Units that gave no frame."""

    @property
    def oldest_ns(self) -> int | None:
        """Stamp of the oldest frame that the decoder still holds."""
        return self._stamps[0] if self._stamps else None

    def frames(self, unit: bytes, stamp_ns: int, after_gap: bool = False) -> Iterator[tuple[int, av.VideoFrame]]:
        """What can be decoded now. `after_gap`: units before this one are missing, so a keyframe must come first."""
        if after_gap:
            yield from self.rest()
            self._decoder, self._started = self._new(), False
        if not self._started and not is_keyframe(unit, self._codec):
            self.lost += 1
            return
        self._started = True
        heapq.heappush(self._stamps, stamp_ns)
        yield from self._decoded(av.Packet(unit))

    def rest(self) -> Iterator[tuple[int, av.VideoFrame]]:
        """What the decoder still holds, at the end of the stream."""
        if self._started:
            yield from self._decoded(None)
        self.lost += len(self._stamps)
        self._stamps.clear()

    def _decoded(self, packet: av.Packet | None) -> Iterator[tuple[int, av.VideoFrame]]:
        try:
            frames = self._decoder.decode(packet)
        except av.FFmpegError as error:
            self._broken(error)
            return
        for frame in frames:
            if self._stamps:
                yield heapq.heappop(self._stamps), frame

    def _broken(self, error: av.FFmpegError) -> None:
        if not self._tolerant:
            raise EpisodeError("video", expected="an access unit that decodes", got=str(error)[:100]) from error
        self.lost += max(1, len(self._stamps))
        self._stamps.clear()
        self._decoder, self._started = self._new(), False

    def _new(self) -> Any:
        decoder: Any = av.CodecContext.create(self._codec, "r")
        decoder.thread_count = 1  # frame threads would hold frames back
        return decoder


class _Colours(threading.local):
    """One conversion for each thread: a frame that makes its own takes longer to make it than to use it."""

    def __init__(self) -> None:
        self.reformatter = VideoReformatter()


_COLOURS: Final = _Colours()


def rgb_of(frame: av.VideoFrame) -> NDArray[np.uint8]:
    """(H, W, 3) RGB."""
    return np.asarray(_COLOURS.reformatter.reformat(frame, format="rgb24").to_ndarray(), np.uint8)


def is_keyframe(unit: bytes, codec: str) -> bool:
    """Whether an Annex B access unit has an IDR picture (H.264: 5) or a random access one (H.265: 16 to 21)."""
    at = unit.find(b"\x00\x00\x01")
    while 0 <= at < len(unit) - 3:
        head = unit[at + 3]
        if (codec == "h264" and head & 0x1F == 5) or (codec == "hevc" and 16 <= (head >> 1) & 0x3F <= 21):
            return True
        at = unit.find(b"\x00\x00\x01", at + 3)
    return False
