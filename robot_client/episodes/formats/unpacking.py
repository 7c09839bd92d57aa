"""Access units among entries -> pictures among entries, still in the order of their stamps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import av

from robot_client.episodes.formats.entries import Entry, Picture
from robot_client.episodes.formats.in_order import InOrder
from robot_client.episodes.formats.video_units import VideoUnits, rgb_of


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """One message of a compressed video."""

    stamp_ns: int
    role: str
    form: str
    """h264 or h265"""
    data: bytes
    after_gap: bool = False
    """Units before it were lost: nothing can be shown until the next keyframe."""


class Unpacking:
    """Decodes the video of every role. Only frames that a decoder holds back keep later entries waiting."""

    def __init__(self, tolerant: bool) -> None:
        self._tolerant = tolerant
        self._videos: dict[str, VideoUnits] = {}

    @property
    def missing(self) -> tuple[str, ...]:
        """Frames that could not be shown."""
        return tuple(f"{video.lost} frames of camera {role}" for role, video in self._videos.items() if video.lost)

    def entries(self, items: Iterable[Entry | Unit]) -> Iterator[Entry]:
        """`items` come in order."""
        order: InOrder[Entry] = InOrder()
        for item in items:
            if isinstance(item, Unit):
                for stamp_ns, frame in self._video(item).frames(item.data, item.stamp_ns, item.after_gap):
                    order.put(_picture(stamp_ns, item.role, frame))
            elif self._videos:
                order.put(item)
            else:
                yield item  # nothing is held back where there is no video
                continue
            yield from order.until(min([item.stamp_ns, *self._held_ns()]))
        for role, video in self._videos.items():
            for stamp_ns, frame in video.rest():
                order.put(_picture(stamp_ns, role, frame))
        yield from order.rest()

    def _held_ns(self) -> list[int]:
        return [video.oldest_ns - 1 for video in self._videos.values() if video.oldest_ns is not None]

    def _video(self, unit: Unit) -> VideoUnits:
        if unit.role not in self._videos:
            self._videos[unit.role] = VideoUnits(unit.form, self._tolerant)
        return self._videos[unit.role]


def _picture(stamp_ns: int, role: str, frame: av.VideoFrame) -> Picture:
    return Picture(stamp_ns, role, lambda: rgb_of(frame))
