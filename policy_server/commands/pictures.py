"""Pictures in and out of the command line: read one, make one up, write a strip or a film."""

from __future__ import annotations

import struct
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError

_STRIP_FRAMES: Final = 8


def read_picture(path: Path, height: int, width: int) -> NDArray[np.uint8]:
    """(height, width, 3) uint8 RGB from a picture file, scaled. Raises `ConfigurationError` when it cannot be read."""
    try:
        import cv2
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "--image",
            expected="OpenCV to read pictures",
            got="not installed",
            remedy="pip install 'yam-video-action[robot]'",
        ) from error
    # OpenCV writes a warning of its own about a path that is no file.
    picture = cv2.imread(str(path), cv2.IMREAD_COLOR) if path.is_file() else None
    if picture is None:
        raise ConfigurationError("--image", expected="a picture file", got=path, remedy="check the path")
    resized = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(resized, cv2.COLOR_BGR2RGB), np.uint8)


def synthetic_picture(role: str, height: int, width: int, seed: int) -> NDArray[np.uint8]:
    """(height, width, 3) uint8 RGB: a colour gradient with a bright square; another one for each role and seed."""
    rng = np.random.default_rng([seed, zlib.crc32(role.encode())])
    corners = rng.integers(40, 200, (2, 2, 3)).astype(np.float32)
    down, across = np.linspace(0, 1, height)[:, None, None], np.linspace(0, 1, width)[None, :, None]
    top = corners[0, 0] * (1 - across) + corners[0, 1] * across
    bottom = corners[1, 0] * (1 - across) + corners[1, 1] * across
    picture = (top * (1 - down) + bottom * down).astype(np.uint8)
    side = max(1, min(height, width) // 5)
    y, x = rng.integers(0, height - side + 1), rng.integers(0, width - side + 1)
    picture[y : y + side, x : x + side] = rng.integers(0, 256, 3)
    return picture


def write_strip(path: Path, frames: NDArray[np.uint8]) -> None:
    """Up to eight evenly spaced frames (T, height, width, 3) one below the other, as PNG."""
    picks = np.unique(np.linspace(0, len(frames) - 1, _STRIP_FRAMES).astype(int))
    path.write_bytes(png_bytes(np.concatenate(frames[picks])))


def png_bytes(picture: NDArray[np.uint8]) -> bytes:
    """A (height, width, 3) uint8 RGB picture as PNG (ISO/IEC 15948), so that the server needs no picture library."""
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter, 0 = none
    rows[:, 1:] = picture.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def write_film(path: Path, frames: NDArray[np.uint8], rate_hz: float) -> None:
    """H.264 in mp4 of frames (T, height, width, 3). Raises `ConfigurationError` where PyAV is missing."""
    try:
        import av
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "--out", expected="a .png strip, or PyAV for films", got=path, remedy="pip install av, or name a .png file"
        ) from error
    with av.open(str(path), "w") as film:
        stream = film.add_stream("libx264", rate=Fraction(rate_hz).limit_denominator(1000))
        stream.height, stream.width = frames.shape[1] // 2 * 2, frames.shape[2] // 2 * 2
        stream.pix_fmt = "yuv420p"
        for picture in frames:
            even = np.ascontiguousarray(picture[: stream.height, : stream.width])
            film.mux(stream.encode(av.VideoFrame.from_ndarray(even, format="rgb24")))
        film.mux(stream.encode())
