"""Views on the canvas: exact pixels in the right rectangle, by role."""

import numpy as np
import pytest

from contract.architecture import Canvas, View
from contract.errors import FieldError
from policy_server.canvas import CanvasTiler

RED, GREEN = (255, 0, 0), (0, 255, 0)
CANVAS = Canvas(
    height=10,
    width=14,
    views=(
        View(role="top", top=0, left=0, height=8, width=6),
        View(role="left_wrist", top=0, left=6, height=4, width=8),
        View(role="right_wrist", top=4, left=6, height=4, width=8, optional=True),
    ),
)


def picture(height: int, width: int) -> np.ndarray:
    """Left half red, top row green: colour order and axis order in one look."""
    image = np.zeros((height, width, 3), np.uint8)
    image[:, : width // 2] = RED
    image[0] = GREEN
    return image


def images() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {v.role: rng.integers(1, 256, (v.height, v.width, 3), np.uint8) for v in CANVAS.views}


def test_red_left_half_and_green_top_row_arrive_as_they_are():
    """B17: swapped colours or axes leave a policy that is only worse, without an error."""
    tiler = CanvasTiler(CANVAS)
    tiler.fill({**images(), "left_wrist": picture(4, 8)})
    view = tiler.pixels[0, 0:4, 6:14]
    assert (view[1:, :4] == RED).all() and (view[1:, 4:] == 0).all() and (view[0] == GREEN).all()


def test_views_are_placed_by_role_in_any_order_and_every_pixel_is_exact():
    """B19: binding by order feeds one camera into another's slot."""
    given = images()
    tiler = CanvasTiler(CANVAS)
    assert tiler.fill(dict(reversed(given.items()))) == ()
    expected = np.zeros((10, 14, 3), np.uint8)
    expected[0:8, 0:6], expected[0:4, 6:14], expected[4:8, 6:14] = given.values()
    assert np.array_equal(tiler.pixels[0], expected)


def test_an_image_of_an_unknown_role_changes_nothing():
    """B19: a fourth camera must not shift the others."""
    plain, extra = CanvasTiler(CANVAS), CanvasTiler(CANVAS)
    plain.fill(images())
    extra.fill({"front": picture(8, 6), **images()})
    assert np.array_equal(plain.pixels, extra.pixels)


def test_a_missing_optional_view_is_black_and_named_even_after_it_was_there():
    """B19: the last picture of a lost camera must not stay on the canvas."""
    tiler = CanvasTiler(CANVAS)
    tiler.fill(images())
    given = images()
    del given["right_wrist"]
    assert tiler.fill(given) == ("right_wrist",)
    assert not tiler.pixels[0, 4:8, 6:14].any()
    assert tiler.pixels[0, 0:4, 6:14].all()


def test_a_missing_required_view_is_refused_by_name():
    """B19: not replaced by a blank picture."""
    given = images()
    del given["top"]
    with pytest.raises(FieldError, match="image top"):
        CanvasTiler(CANVAS).fill(given)


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((3, 8, 6), np.uint8),
        np.zeros((6, 8, 3), np.uint8),
        np.zeros((8, 6), np.uint8),
        np.zeros((8, 6, 4), np.uint8),
        np.zeros((8, 6, 3), np.float32),
        np.zeros((1, 6, 3), np.uint8),
    ],
    ids=["channels first", "transposed", "grey", "alpha", "float", "would broadcast"],
)
def test_what_is_no_picture_of_the_right_size_is_refused_with_both_shapes(image):
    """B17: a float image in 0..1 must not become black, nor a channel-first one be squeezed in."""
    with pytest.raises(FieldError, match=r"image top: expected uint8 \(8, 6, 3\), RGB, got"):
        CanvasTiler(CANVAS).fill({**images(), "top": image})


def test_filling_allocates_no_canvas_and_takes_read_only_and_strided_pictures():
    tiler = CanvasTiler(CANVAS)
    before = tiler.pixels
    given = images()
    wide = np.repeat(given["top"], 2, axis=1)[:, ::2]
    wide.flags.writeable = False
    tiler.fill({**given, "top": wide})
    assert tiler.pixels is before and np.array_equal(before[0, 0:8, 0:6], given["top"])
