"""`python -m robot_client.bench.read_episode EPISODE`: reads a whole episode once, four ways, and prints what it cost.

JSON: seconds of the episode, messages, and for each way CPU seconds of the whole process and seconds on the clock:
`read` (every message), `decoded` (from CDR as well), `entries` (joints as vectors of the contract, who drove, stamps;
pictures left compressed, as who trains on joints or looks at some of them reads), `pixels` (entries, and every camera
frame to RGB, on all cores). `grown_mb` is the largest resident size of the ways that hold no pixels, over what the
libraries took before.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2

from robot_client.bench.process_cost import peak_mb
from robot_client.clock import NS_PER_S
from robot_client.episodes.decoder import Decoder
from robot_client.episodes.formats.ahead import decoded_ahead
from robot_client.episodes.formats.bag_source import BagSource
from robot_client.episodes.formats.entries import Picture
from robot_client.episodes.reader import BagReader


class Reading:
    """Each way reads the episode once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.messages = 0
        self.seconds = 0.0
        """From the first message to the last; known after `read`."""

    def read(self) -> None:
        """Every message, sorted by time."""
        count, first_ns, last_ns = 0, 0, 0
        for message in BagReader(self._path).messages():
            first_ns, last_ns, count = first_ns or message.log_ns, message.log_ns, count + 1
        self.messages, self.seconds = count, (last_ns - first_ns) / NS_PER_S

    def decoded(self) -> None:
        """Every message as an object with the fields of its type."""
        decode = Decoder()
        for message in BagReader(self._path).messages():
            decode(message)

    def entries(self) -> None:
        """What training and the pages read."""
        for _ in BagSource(self._path).entries():
            pass

    def pixels(self) -> None:
        """The same, and every camera frame (H, W, 3) RGB."""
        for entry in decoded_ahead(BagSource(self._path).entries()):
            if isinstance(entry, Picture):
                entry.rgb()


def measure(path: Path) -> dict[str, Any]:
    """Of each way, in turn."""
    cv2.setNumThreads(1)
    before_mb = peak_mb()
    reading, cpu_s, clock_s = Reading(path), dict[str, float](), dict[str, float]()
    for way in (reading.read, reading.decoded, reading.entries):
        cpu_s[way.__name__], clock_s[way.__name__] = _spent(way)
    grown_mb = peak_mb() - before_mb
    cpu_s["pixels"], clock_s["pixels"] = _spent(reading.pixels)
    return {
        "episode_s": reading.seconds,
        "messages": reading.messages,
        "cpu_s": cpu_s,
        "clock_s": clock_s,
        "before_mb": before_mb,
        "grown_mb": grown_mb,
    }


def _spent(way: Callable[[], None]) -> tuple[float, float]:
    """CPU seconds of all threads, and seconds on the clock."""
    cpu_s, clock_s = time.process_time(), time.perf_counter()
    way()
    return time.process_time() - cpu_s, time.perf_counter() - clock_s


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
