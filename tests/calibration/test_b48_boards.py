"""B48: boards of odd and even rows, in the old layout and the new one: the right pose, or a refusal that helps."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from PIL import Image

from calibration.board import Board, Layout, load_board, save_print
from calibration.detection import find
from calibration.drawing import drawn_view
from calibration.pose import board_pose
from calibration.rigid import difference
from contract.errors import ConfigurationError
from tests.calibration.views import CAMERA as SMALL
from tests.calibration.views import facing, twelve_poses

CAMERA = SMALL.scaled(1280, 960)

SIZES = ((5, 4), (8, 6), (5, 7))
LAYOUTS: tuple[Layout, ...] = ("standard", "legacy")


def board_of(size: tuple[int, int], layout: Layout = "standard") -> Board:
    return Board(columns=size[0], rows=size[1], square_m=0.03, marker_m=0.022, layout=layout)


@cache
def pictures(size: tuple[int, int], layout: Layout) -> tuple[np.ndarray, ...]:
    board = board_of(size, layout)
    return tuple(drawn_view(board, CAMERA, pose) for pose in twelve_poses(board)[::3])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_right_board_is_found_where_it_is_z_included(size: tuple[int, int], layout: Layout) -> None:
    """B48: corners >= 90 %, under half a pixel, within 1 mm and 0.1 degree, the sign of z as it is."""
    board = board_of(size, layout)
    for picture, truth in zip(pictures(size, layout), twelve_poses(board)[::3], strict=True):
        sighting = find(board, picture)
        assert len(sighting.ids) >= 0.9 * board.corners
        pose, error = board_pose(board, CAMERA, sighting)
        metres, radians = difference(pose, truth)
        assert error < 0.5 and metres < 1e-3 and np.degrees(radians) < 0.1
        assert pose[2, 2] > 0, "z points into the board"


@pytest.mark.parametrize("size", [(5, 4), (8, 6)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_wrong_layout_of_even_rows_is_refused_with_the_right_one(size: tuple[int, int], layout: Layout) -> None:
    """B48: markers 24, corners 0, and no word of what to do."""
    wrong = board_of(size, "legacy" if layout == "standard" else "standard")
    for picture in pictures(size, layout):
        with pytest.raises(ConfigurationError, match=f"try layout {layout}"):
            find(wrong, picture)


@pytest.mark.parametrize("size", SIZES)
def test_columns_and_rows_exchanged_are_refused_with_that_advice(size: tuple[int, int]) -> None:
    """B48."""
    wrong = board_of((size[1], size[0]))
    for picture in pictures(size, "standard"):
        with pytest.raises(ConfigurationError, match="exchange columns and rows"):
            find(wrong, picture)


def test_another_dictionary_sees_nothing() -> None:
    """B48."""
    wrong = board_of((8, 6)).variant(dictionary="DICT_APRILTAG_36h11")
    assert len(find(wrong, pictures((8, 6), "standard")[0]).ids) == 0


@pytest.mark.parametrize("marker_m", [0.012, 0.028])
def test_another_ratio_of_marker_to_square_gives_the_right_pose_or_none(marker_m: float) -> None:
    """B48: never a result with a high error."""
    wrong = board_of((8, 6)).variant(marker_m=marker_m)
    for picture, truth in zip(pictures((8, 6), "standard"), twelve_poses(wrong)[::3], strict=True):
        try:
            pose, _ = board_pose(wrong, CAMERA, find(wrong, picture))
        except ConfigurationError:
            continue
        metres, radians = difference(pose, truth)
        assert metres < 2e-3 and np.degrees(radians) < 0.3


def test_a_picture_without_a_board_has_no_corners() -> None:
    assert len(find(board_of((8, 6)), np.full((480, 640, 3), 90, np.uint8)).ids) == 0


@pytest.mark.parametrize("ending", [".pdf", ".png"])
def test_a_print_has_its_true_size(tmp_path, ending: str) -> None:
    board = board_of((8, 6))
    width, height = save_print(board, tmp_path / f"board{ending}", margin_m=0.01)
    assert (width, height) == pytest.approx((8 * 0.03 + 0.02, 6 * 0.03 + 0.02), abs=3e-4)
    if ending == ".png":
        with Image.open(tmp_path / "board.png") as picture:
            dots = picture.info["dpi"][0]
            assert picture.size[0] / dots * 0.0254 == pytest.approx(width, abs=1e-3)


def test_a_print_is_found_by_its_own_file(tmp_path) -> None:
    board = board_of((5, 7))
    save_print(board, tmp_path / "board.png", dots_per_inch=100)
    with Image.open(tmp_path / "board.png") as picture:
        assert len(find(board, np.asarray(picture)).ids) == board.corners


@pytest.mark.parametrize(
    ("text", "key"),
    [("columns = 8\nrows = 6\nsquare_m = 0.03\nmarker_m = 0.05\n", "marker_m"),
     ("columns = 8\nrows = 6\nsquare_m = 30\nmarker_m = 22\n", "square_m"),
     ("columns = 8\nrows = 6\nsquare_m = 0.03\nmarker_m = 0.02\ncolor = 1\n", "color"),
     ("columns = 8\n", "rows")],
)  # fmt: skip
def test_a_board_file_at_fault_names_the_key(tmp_path, text: str, key: str) -> None:
    (tmp_path / "board.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=key):
        load_board(tmp_path / "board.toml")


def test_one_row_of_corners_is_a_glimpse_and_no_other_board() -> None:
    """A board at the picture's edge was refused as a wrong one: a line of corners fits no homography."""
    board = Board(columns=7, rows=5, square_m=0.03, marker_m=0.022)
    whole = drawn_view(board, CAMERA, facing(board, 0.4))
    rows = find(board, whole).pixels.reshape(4, 6, 2)[..., 1].mean(1)
    one_row = whole.copy()
    one_row[int(rows[1]) - 8 :] = 120  # two rows of squares, of which only one row of corners has both sides
    assert find(board, one_row).ids.size == 0 and find(board, one_row).markers > 5
    two_rows = whole.copy()
    two_rows[int(rows[2]) - 8 :] = 120
    assert find(board, two_rows).ids.size >= 10
