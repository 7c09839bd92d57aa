"""What JPEG would cost and save. It is not on the wire: protocol 1 sends pixels, so this stands beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from robot_client.clock import MonotonicClock
from robot_client.latency.figures import figures_ms
from robot_client.latency.timed import Timed, time_calls

QUALITY: Final = 90
IMAGES: Final = 3
_BLUR_PX: Final = 24
_GRAIN: Final = 3.0


def scene(height: int, width: int, seed: int) -> NDArray[np.uint8]:
    """Soft shapes with sensor noise: noise alone would not compress at all, a plain wall would compress too well."""
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (height // _BLUR_PX + 2, width // _BLUR_PX + 2, 3), np.uint8)
    smooth = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.float64)
    return np.clip(smooth + random.normal(0.0, _GRAIN, smooth.shape), 0, 255).astype(np.uint8)


def jpeg_cost(height: int, width: int, calls: int) -> dict[str, Any]:
    """CPU-bound times of three images, encoded by the robot and decoded by the server, and the bytes of both forms.

    `pays_below_mbit_s`: on a slower network JPEG would save more time in bytes than it costs in computing.
    """
    images = [scene(height, width, seed) for seed in range(IMAGES)]
    options = [cv2.IMWRITE_JPEG_QUALITY, QUALITY]
    packed = [cv2.imencode(".jpg", image, options)[1] for image in images]
    encode = _times(lambda: [cv2.imencode(".jpg", image, options) for image in images], calls)
    decode = _times(lambda: [cv2.imdecode(data, cv2.IMREAD_COLOR) for data in packed], calls)
    raw_bytes, jpeg_bytes = sum(image.nbytes for image in images), sum(data.nbytes for data in packed)
    spent_s = (float(np.median(encode)) + float(np.median(decode))) / 1e9
    return {
        "quality": QUALITY,
        "encode_ms": figures_ms(encode),
        "decode_ms": figures_ms(decode),
        "raw_bytes": raw_bytes,
        "jpeg_bytes": jpeg_bytes,
        "pays_below_mbit_s": round(8e-6 * (raw_bytes - jpeg_bytes) / spent_s, 1),
    }


def _times(work: Callable[[], object], calls: int) -> list[int]:
    return time_calls(work, calls, MonotonicClock(), Timed(), warm_up=0).calls_ns
