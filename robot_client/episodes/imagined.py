"""Frames that the policy imagined, by the time that they predict."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_client.clock import NS_PER_S
from robot_client.episodes.channels import IMAGINED
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.observations import image_of
from robot_client.episodes.reader import BagReader


class ImaginedReel:
    """Kept compressed: some kilobytes a frame, a few frames a second."""

    def __init__(self) -> None:
        self._reels: list[tuple[int, list[tuple[int, bytes]]]] = []

    def read(self, path: Path) -> None:
        """All of a bag, from one moment of imagining to the next."""
        decode = Decoder()
        for message in BagReader(path, tolerant=True).messages((IMAGINED,)):
            image = decode(message)
            predicted_ns = int(image.header.stamp.sec) * NS_PER_S + int(image.header.stamp.nanosec)
            if not self._reels or self._reels[-1][0] != message.log_ns:
                self._reels.append((message.log_ns, []))
            self._reels[-1][1].append((predicted_ns, bytes(image.data)))

    def at(self, stamp_ns: int) -> NDArray[np.uint8] | None:
        """(H, W, 3) RGB of the newest prediction made before `stamp_ns`: the frame for that time, at its end the last.

        None before the first.
        """
        made = [frames for moment_ns, frames in self._reels if moment_ns <= stamp_ns]
        due = [data for predicted_ns, data in made[-1] if predicted_ns <= stamp_ns] if made else []
        return image_of(due[-1]) if due else None
