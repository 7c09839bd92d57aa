"""Frames of an mp4, one after the other, under stamps that lie beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import av
from numpy.typing import NDArray

from contract.errors import EpisodeError
from robot_client.episodes.formats.entries import Picture
from robot_client.episodes.formats.video_units import rgb_of

_HALF: Final = 0.5


class VideoFile:
    """Pictures of `role` from a file: the frames whose time in it is in [start_s, end_s), each with one of `stamps_ns`.

    Any codec that FFmpeg knows (H.264, H.265 and AV1 are in the wild). `left_over` after a pass: stamps without a frame
    when positive, frames without a stamp when negative; `trouble`: why it ended early. Raises `EpisodeError` when the
    file cannot be opened.
    """

    def __init__(self, path: Path, role: str, start_s: float = 0.0, end_s: float = float("inf")) -> None:
        self.path, self.role = path, role
        self._start_s, self._end_s = start_s, end_s
        self.left_over = 0
        self.trouble = ""

    def pictures(self, stamps_ns: Sequence[int] | NDArray) -> Iterator[Picture]:
        """In order, decoded one at a time."""
        shown = 0
        self.left_over, self.trouble = 0, ""
        for frame in self._frames():
            if shown < len(stamps_ns):
                yield Picture(int(stamps_ns[shown]), self.role, lambda frame=frame: rgb_of(frame))  # type: ignore[misc]
            shown += 1
        self.left_over = len(stamps_ns) - shown

    def rate_hz(self) -> float:
        """As the file says."""
        with self._opened() as container:
            return float(container.streams.video[0].average_rate or 0.0)

    def _frames(self) -> Iterator[av.VideoFrame]:
        with self._opened() as container:
            stream = container.streams.video[0]
            stream.thread_count = 1
            half_s = _HALF / float(stream.average_rate or 30)
            if self._start_s > 0.0 and stream.time_base:
                container.seek(max(0, int((self._start_s - half_s) / stream.time_base)), stream=stream)
            try:
                for frame in container.decode(stream):
                    time_s = 0.0 if frame.time is None else frame.time
                    if time_s >= self._end_s - half_s:
                        return
                    if time_s >= self._start_s - half_s:
                        yield frame
            except av.FFmpegError as error:
                self.trouble = str(error)[:100]

    def _opened(self) -> Any:
        try:
            container = av.open(str(self.path))
        except (OSError, av.FFmpegError) as error:
            raise EpisodeError(f"{self.path}", expected="a video", got=str(error)[:100]) from error
        if not container.streams.video:
            container.close()
            raise EpisodeError(f"{self.path}", expected="a video", got="a file without one")
        return container
