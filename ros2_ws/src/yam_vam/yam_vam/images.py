"""sensor_msgs/Image <-> arrays. Every field of the header is checked before a byte is touched.

Row padding is taken off, 16-bit values keep both bytes, and a picture whose fields contradict each other is refused:
a wrong step would otherwise show as a skewed picture, or end the process.
"""

from __future__ import annotations

import array
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import Image

from contract.errors import FieldError
from robot_client.clock import NS_PER_S
from robot_client.images import as_rgb

COLOUR: Final = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4, "mono8": 1}
"""Encoding of a colour picture -> channels of one byte."""
DEPTH: Final = frozenset({"16UC1", "mono16"})
_LARGEST: Final = 1 << 28
"""Bytes of a picture; a 16384 x 16384 grey one."""


def rgb_of(message: Any) -> NDArray[np.uint8]:
    """(H, W, 3) uint8 RGB. Raises `FieldError` naming the field at fault, or an encoding that has no colours."""
    channels = COLOUR.get(message.encoding)
    if channels is None:
        raise FieldError(
            f"image encoding {message.encoding or '(empty)'} for a colour camera",
            expected=", ".join(COLOUR),
            got=message.encoding or "nothing",
            remedy="set the driver to one of them; depth belongs to no colour role",
        )
    pixels = _rows(message, channels).reshape(message.height, message.width, channels)
    return as_rgb(pixels[..., 0] if channels == 1 else pixels, message.encoding)


def depth_of(message: Any) -> NDArray[np.uint16]:
    """(H, W) uint16 as the camera gave it, in the unit of its driver. Raises `FieldError`."""
    if message.encoding not in DEPTH:
        raise FieldError(
            f"image encoding {message.encoding or '(empty)'} for a depth camera",
            expected=", ".join(sorted(DEPTH)),
            got=message.encoding,
        )
    order = ">u2" if message.is_bigendian else "<u2"
    return np.ascontiguousarray(_rows(message, 2)).view(order).astype(np.uint16)


def image_of(image: NDArray[np.uint8], ros_ns: int, frame_id: str) -> Image:
    """An rgb8 message of (H, W, 3) uint8 RGB."""
    message = Image()
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(ros_ns, NS_PER_S)
    message.header.frame_id = frame_id
    message.height, message.width = image.shape[:2]
    message.encoding, message.is_bigendian, message.step = "rgb8", 0, 3 * image.shape[1]
    message.data = array.array("B", np.ascontiguousarray(image).tobytes())  # any other type is checked byte by byte
    return message


def _rows(message: Any, pixel_bytes: int) -> NDArray[np.uint8]:
    """(H, W * pixel_bytes) without padding."""
    height, width, step = int(message.height), int(message.width), int(message.step)
    used = width * pixel_bytes
    data = np.frombuffer(message.data, np.uint8)
    if not (height > 0 and width > 0 and height * max(step, 1) <= _LARGEST):
        raise FieldError("size of an image", expected=f"1 pixel to {_LARGEST} bytes", got=f"{width}x{height}, {step}")
    if step < used:
        raise FieldError("step of an image", expected=f"{used} or more for {width} {message.encoding}", got=step)
    if len(data) < step * (height - 1) + used:
        raise FieldError("data of an image", expected=f"{height} rows of {step} bytes", got=f"{len(data)} bytes")
    if len(data) < step * height:
        return np.stack([data[row * step : row * step + used] for row in range(height)])
    return data[: step * height].reshape(height, step)[:, :used]
