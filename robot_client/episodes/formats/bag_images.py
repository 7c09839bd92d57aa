"""Images of every kind that a bag may have, as RGB."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError, FieldError
from robot_client.images import as_rgb, decode_compressed

_BYTES_PER_PIXEL: Final = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4, "mono8": 1}


def still_image(message: Any, topic: str) -> NDArray[np.uint8]:
    """(H, W, 3) RGB of a JPEG or PNG in a CompressedImage. Raises `EpisodeError`."""
    try:
        return decode_compressed(bytes(message.data), str(message.format))
    except FieldError as error:
        raise EpisodeError(f"an image on {topic}", expected="jpeg, png, h264 or h265", got=str(error)) from error


def raw_image(message: Any, topic: str) -> NDArray[np.uint8]:
    """(H, W, 3) RGB of a sensor_msgs/Image; rows may be padded to `step` bytes. Raises `EpisodeError`."""
    pixel = _BYTES_PER_PIXEL.get(message.encoding)
    if pixel is None:
        raise EpisodeError(f"an image on {topic}", expected=", ".join(_BYTES_PER_PIXEL), got=message.encoding)
    try:
        rows = np.frombuffer(bytes(message.data), np.uint8).reshape(message.height, message.step)
        shape = (message.height, message.width) if pixel == 1 else (message.height, message.width, pixel)
        return as_rgb(rows[:, : message.width * pixel].reshape(shape), message.encoding)
    except (FieldError, ValueError) as error:
        raise EpisodeError(f"an image on {topic}", expected="height x step bytes", got=str(error)) from error
