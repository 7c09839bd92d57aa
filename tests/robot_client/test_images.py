"""Colour order, axis order, value range, size."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from contract.errors import FieldError
from robot_client.images import ENCODINGS, as_rgb, decode_compressed, fit


def _picture() -> NDArray[np.uint8]:
    """Left half pure red, top row pure green, as RGB; height and width differ from 3 and 4."""
    image = np.zeros((6, 8, 3), np.uint8)
    image[:, :4] = (255, 0, 0)
    image[0] = (0, 255, 0)
    return image


def _encoded() -> dict[str, NDArray]:
    rgb = _picture()
    alpha = np.full((6, 8, 1), 7, np.uint8)
    return {
        "rgb8": rgb,
        "bgr8": rgb[..., ::-1],
        "rgba8": np.concatenate([rgb, alpha], axis=2),
        "bgra8": np.concatenate([rgb[..., ::-1], alpha], axis=2),
        "rgb8_chw": np.moveaxis(rgb, 2, 0),
        "rgb_float01": rgb.astype(np.float32) / 255.0,
        "rgb_float255": rgb.astype(np.float64),
    }


@pytest.mark.parametrize("encoding", sorted(_encoded()))
def test_every_declared_encoding_gives_the_same_rgb(encoding: str) -> None:
    """B17: red and blue were swapped without a word, and channel-first images crashed the resize."""
    got = as_rgb(_encoded()[encoding], encoding)
    np.testing.assert_array_equal(got, _picture())
    assert got.flags.c_contiguous
    assert got.dtype == np.uint8


def test_grey_is_repeated_in_all_channels() -> None:
    grey = np.arange(48, dtype=np.uint8).reshape(6, 8)
    np.testing.assert_array_equal(as_rgb(grey, "mono8"), np.stack([grey] * 3, axis=2))


def test_every_encoding_is_covered_here() -> None:
    assert set(ENCODINGS) == set(_encoded()) | {"mono8"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_from_0_to_1_never_become_black(dtype: type) -> None:
    """B17: a float image of 0..1 cast to bytes is all black."""
    image = np.full((4, 5, 3), 0.5, dtype)
    assert (as_rgb(image, "rgb_float01") == 128).all()
    with pytest.raises(FieldError, match="declare its encoding"):
        as_rgb(image)


@pytest.mark.parametrize(
    ("image", "encoding"),
    [
        (np.zeros((3, 6, 8), np.uint8), "rgb8"),
        (np.zeros((6, 8), np.uint8), "rgb8"),
        (np.zeros((6, 8, 4), np.uint8), "rgb8"),
        (np.zeros((6, 8, 1), np.uint8), "mono8"),
        (np.zeros((6, 8, 3), np.uint16), "rgb8"),
        (np.zeros((1, 6, 8, 3), np.uint8), "rgb8"),
        (np.zeros((6, 0, 3), np.uint8), "rgb8"),
        (np.zeros((6, 8, 3), np.uint8), "rgb_float01"),
        (np.full((6, 8, 3), 255.0, np.float32), "rgb_float01"),
        (np.full((6, 8, 3), np.nan, np.float32), "rgb_float255"),
        ([[[0, 0, 0]]], "rgb8"),
        (np.zeros((6, 8, 2), np.uint8), "yuv422"),
    ],
)
def test_what_does_not_fit_its_declaration_is_refused_and_not_guessed(image: NDArray, encoding: str) -> None:
    with pytest.raises(FieldError, match="image"):
        as_rgb(image, encoding)


@pytest.mark.parametrize("form", ["png", "rgb8; png compressed bgr8"])
def test_a_png_comes_back_exactly(form: str) -> None:
    data = cv2.imencode(".png", _picture()[..., ::-1])[1].tobytes()
    np.testing.assert_array_equal(decode_compressed(data, form), _picture())


@pytest.mark.parametrize("form", ["jpeg", "jpg", "rgb8; jpeg compressed bgr8"])
def test_a_jpeg_keeps_red_on_the_left(form: str) -> None:
    large = np.kron(_picture(), np.ones((16, 16, 1), np.uint8))
    data = cv2.imencode(".jpg", large[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()
    got = decode_compressed(data, form)
    assert np.abs(got[60, 20].astype(int) - (255, 0, 0)).max() < 12
    assert np.abs(got[4, 100].astype(int) - (0, 255, 0)).max() < 12


@pytest.mark.parametrize(("data", "form"), [(b"no picture", "jpeg"), (b"", "png"), (b"x", "h264"), (b"x", "")])
def test_other_bytes_and_formats_are_refused(data: bytes, form: str) -> None:
    with pytest.raises(FieldError, match="compressed image"):
        decode_compressed(data, form)


def test_scaling_down_averages_areas() -> None:
    image = np.zeros((4, 8, 3), np.uint8)
    image[::2] = 200
    np.testing.assert_array_equal(fit(image, 2, 4), np.full((2, 4, 3), 100))


def test_another_aspect_ratio_gets_black_bars_and_nothing_is_stretched() -> None:
    image = np.full((480, 640, 3), 90, np.uint8)
    boxed = fit(image, 128, 128)
    assert boxed.shape == (128, 128, 3)
    np.testing.assert_array_equal(boxed[:16], 0)
    np.testing.assert_array_equal(boxed[16:112], 90)
    np.testing.assert_array_equal(boxed[112:], 0)
    tall = fit(np.moveaxis(image, 0, 1), 64, 128)
    np.testing.assert_array_equal(tall[:, 40:88], 90)
    np.testing.assert_array_equal(tall[:, :40], 0)


def test_an_image_of_the_right_size_passes_as_it_is() -> None:
    image = _picture()
    assert fit(image, 6, 8) is image


def test_scaling_up_keeps_corners_and_size() -> None:
    assert fit(_picture(), 48, 64).shape == (48, 64, 3)
