"""Camera images as a policy wants them: RGB, uint8, height x width x 3, of the policy's size.

An image without a declared encoding must already be HWC uint8 RGB; anything else is refused, never guessed. What each
declared encoding means is in `ENCODINGS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from contract.errors import FieldError

Image = NDArray[np.uint8]


def as_rgb(image: NDArray, encoding: str = "rgb8") -> Image:
    """(h, w, 3) uint8 RGB of `image` in a declared encoding. Raises `FieldError` naming what came and what would do."""
    if encoding not in ENCODINGS:
        raise FieldError("image encoding", expected=", ".join(ENCODINGS), got=encoding, remedy="set the camera to one")
    dtype, channels, convert = ENCODINGS[encoding]
    axes = 2 if channels == 0 else 3
    if not isinstance(image, np.ndarray) or image.dtype not in dtype or image.ndim != axes or 0 in image.shape:
        raise _refused(image, encoding)
    if channels and image.shape[0 if encoding.endswith("_chw") else 2] != channels:
        raise _refused(image, encoding)
    return np.ascontiguousarray(convert(image))


def decode_compressed(data: bytes, form: str) -> Image:
    """RGB of a JPEG or PNG, whose codec stores colour itself. `form` is ROS's CompressedImage.format.

    Known forms: "jpeg", "jpg", "png", and "<encoding>; jpeg|png compressed ...".
    """
    kind = form.partition(";")[2].split() or [form.strip()]
    if kind[0] not in ("jpeg", "jpg", "png"):
        raise FieldError("compressed image", expected="jpeg or png", got=form, remedy="set the camera's transport")
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    if decoded is None:
        raise FieldError("compressed image", expected=form, got=f"{len(data)} bytes that do not decode")
    return swapped(np.asarray(decoded, np.uint8))


def swapped(image: Image) -> Image:
    """(h, w, 3) RGB of BGR, or the other way round; numpy takes a millisecond for 640x480, this a few hundredths."""
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), np.uint8)


def fit(image: Image, height: int, width: int) -> Image:
    """`image` scaled to height x width by area averaging; with black bars when the aspect ratio differs.

    Nothing is cut off and nothing stretched, so that angles stay what the camera's calibration says.
    """
    if image.shape[:2] == (height, width):
        return image
    scale = min(height / image.shape[0], width / image.shape[1])
    inner = max(1, round(image.shape[0] * scale)), max(1, round(image.shape[1] * scale))
    method = cv2.INTER_AREA if scale < 1.0 else cv2.INTER_LINEAR
    scaled = np.asarray(cv2.resize(image, (inner[1], inner[0]), interpolation=method), np.uint8)
    if inner == (height, width):
        return scaled
    boxed = np.zeros((height, width, 3), np.uint8)
    top, left = (height - inner[0]) // 2, (width - inner[1]) // 2
    boxed[top : top + inner[0], left : left + inner[1]] = scaled
    return boxed


def _grey(image: NDArray) -> NDArray:
    return np.repeat(image[..., np.newaxis], 3, axis=2)


def _unit(image: NDArray) -> NDArray:
    return _bytes(image, 1.0)


def _full(image: NDArray) -> NDArray:
    return _bytes(image, 255.0)


def _bytes(image: NDArray, top: float) -> NDArray:
    """0..top as bytes, rounded; values outside (or not finite) mean that the declared range is wrong."""
    if not ((image >= 0.0) & (image <= top)).all():
        raise FieldError("image", expected=f"values 0..{top:g}", got=f"{image.min()}..{image.max()}")
    return np.rint(image * (255.0 / top)).astype(np.uint8)


_U8: Final = (np.dtype(np.uint8),)
_FLOAT: Final = (np.dtype(np.float32), np.dtype(np.float64))
ENCODINGS: Final[Mapping[str, tuple[tuple[np.dtype, ...], int, Callable[[NDArray], NDArray]]]] = {
    "rgb8": (_U8, 3, lambda image: image),
    "bgr8": (_U8, 3, lambda image: image[..., ::-1]),
    "rgba8": (_U8, 4, lambda image: image[..., :3]),
    "bgra8": (_U8, 4, lambda image: image[..., 2::-1]),
    "mono8": (_U8, 0, _grey),
    "rgb8_chw": (_U8, 3, lambda image: np.moveaxis(image, 0, 2)),
    "rgb_float01": (_FLOAT, 3, _unit),
    "rgb_float255": (_FLOAT, 3, _full),
}
"""Encoding -> dtypes, channels (0: no channel axis), way to RGB. Alpha is dropped, grey is repeated in all channels."""


def _refused(image: object, encoding: str) -> FieldError:
    is_array = isinstance(image, np.ndarray)
    got = f"{image.dtype} {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
    hint = "declare its encoding" if is_array else "convert it to an array"
    return FieldError(
        "image", expected=f"{encoding}, see robot_client.images.ENCODINGS", got=got, remedy=f"{hint}: it is not guessed"
    )
