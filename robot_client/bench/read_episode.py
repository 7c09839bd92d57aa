"""`python -m robot_client.bench.read_episode EPISODE`: reads a whole episode once, three ways, and prints what it cost.

JSON: seconds of the episode, messages, CPU seconds of reading alone, with every message decoded, and with every
picture decoded to pixels as well; and the largest resident size, over what the libraries took before.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from robot_client.bench.recorded_line import peak_mb
from robot_client.clock import NS_PER_S
from robot_client.episodes.reader import BagReader, Decoder


def read(path: Path, decoded: bool, pixels: bool) -> tuple[int, float]:
    """One pass; messages and seconds from the first to the last."""
    decode, count, first_ns, last_ns = Decoder(), 0, 0, 0
    for message in BagReader(path).messages():
        first_ns, last_ns, count = first_ns or message.log_ns, message.log_ns, count + 1
        if decoded:
            value = decode(message)
            if pixels and message.ros_type == "sensor_msgs/msg/CompressedImage":
                cv2.imdecode(np.frombuffer(value.data, np.uint8), cv2.IMREAD_COLOR)
    return count, (last_ns - first_ns) / NS_PER_S


def measure(path: Path) -> dict[str, Any]:
    """CPU time of each way; memory after the first two, which hold no pixels."""
    cv2.setNumThreads(1)
    before_mb = peak_mb()
    spent, count, seconds = {}, 0, 0.0
    for name, decoded, pixels in (("read", False, False), ("decoded", True, False), ("pixels", True, True)):
        if name == "pixels":
            grown_mb = peak_mb() - before_mb
        begun_s = time.process_time()
        count, seconds = read(path, decoded, pixels)
        spent[name] = time.process_time() - begun_s
    return {"episode_s": seconds, "messages": count, "cpu_s": spent, "before_mb": before_mb, "grown_mb": grown_mb}


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
