"""Pictures by topic: every field of the header is checked before a byte is touched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sensor_msgs.msg import Image
from yam_vam.images import depth_of, image_of, rgb_of

from contract.errors import FieldError

POISON = 0xEE


def message(encoding: str, height: int, width: int, step: int, data: bytes, bigendian: int = 0) -> Image:
    made = Image(encoding=encoding, height=height, width=width, step=step, is_bigendian=bigendian)
    made.data = data
    return made


def test_padding_at_the_end_of_rows_is_not_part_of_the_picture() -> None:
    """B18: a driver pads its rows (vision_opencv 115); read without the step, the picture is skewed."""
    pixels = np.arange(3 * 5 * 3, dtype=np.uint8).reshape(3, 5, 3)
    rows = b"".join(row.tobytes() + bytes([POISON]) for row in pixels)
    seen = rgb_of(message("rgb8", 3, 5, 16, rows))
    assert np.array_equal(seen, pixels)
    assert POISON not in seen


@given(st.integers(1, 7), st.integers(1, 9), st.integers(0, 20), st.booleans())
def test_any_padding_gives_the_same_picture(height: int, width: int, padding: int, cut_last: bool) -> None:
    """B18: also when the driver leaves the padding of the last row out."""
    pixels = np.random.default_rng(height * width).integers(0, 256, (height, width, 3), np.uint8)
    rows = b"".join(row.tobytes() + bytes([POISON] * padding) for row in pixels)
    data = rows[: len(rows) - padding] if cut_last and padding else rows
    assert np.array_equal(rgb_of(message("rgb8", height, width, 3 * width + padding, data)), pixels)


@pytest.mark.parametrize(("bigendian", "order"), [(0, "<u2"), (1, ">u2")])
def test_depth_keeps_both_bytes_in_both_byte_orders(bigendian: int, order: str) -> None:
    """B18: 16UC1 was cut to 8 bits, or read in the wrong order."""
    depth = np.array([[0, 1, 255, 256], [4660, 65535, 300, 2]], np.uint16)
    data = depth.astype(order).tobytes()
    assert np.array_equal(depth_of(message("16UC1", 2, 4, 8, data, bigendian)), depth)


@pytest.mark.parametrize("encoding", ["16UC1", "mono16", "32FC1", "8UC3", "yuv422_yuy2", "bayer_rggb8", ""])
def test_what_has_no_declared_colours_is_refused_by_name(encoding: str) -> None:
    """B18: a depth picture on a colour role must not become a dark colour picture."""
    with pytest.raises(FieldError, match=encoding or "nothing"):
        rgb_of(message(encoding, 2, 2, 4, bytes(16)))


@pytest.mark.parametrize(
    ("height", "width", "step", "length", "names"),
    [
        (2, 4, 11, 24, "step"),
        (2, 4, 0, 24, "step"),
        (2, 4, 12, 23, "data"),
        (2, 4, 12, 0, "data"),
        (2, 0, 12, 24, "size"),
        (0, 4, 12, 24, "size"),
        (2**20, 2**20, 3 * 2**20, 24, "size"),
    ],
)
def test_fields_that_contradict_each_other_are_refused(
    height: int, width: int, step: int, length: int, names: str
) -> None:
    """B18: a wrong step ended the whole process."""
    with pytest.raises(FieldError, match=names):
        rgb_of(message("rgb8", height, width, step, bytes(length)))


@pytest.mark.parametrize(
    ("encoding", "pixel"),
    [
        ("rgb8", [255, 0, 0]),
        ("bgr8", [0, 0, 255]),
        ("rgba8", [255, 0, 0, 9]),
        ("bgra8", [0, 0, 255, 9]),
    ],
)
def test_red_is_red_in_every_encoding(encoding: str, pixel: list[int]) -> None:
    seen = rgb_of(message(encoding, 1, 1, len(pixel), bytes(pixel)))
    assert seen.tolist() == [[[255, 0, 0]]]


def test_a_picture_survives_the_way_there_and_back() -> None:
    image = np.random.default_rng(0).integers(0, 256, (48, 64, 3), np.uint8)
    sent = image_of(image, 12_345_678_901, "top_camera")
    assert np.array_equal(rgb_of(sent), image)
    assert (sent.header.stamp.sec, sent.header.stamp.nanosec) == (12, 345_678_901)
