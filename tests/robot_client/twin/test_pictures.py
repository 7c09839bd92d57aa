"""What the cameras see."""

from __future__ import annotations

import numpy as np
import pytest

from contract.errors import ConfigurationError
from robot_client.twin.cameras import DEFAULT_SIZES, ROLES, Size, checked_sizes, parse_size
from robot_client.twin.layouts import Layout
from robot_client.twin.renderer import _averaged
from robot_client.twin.things import PLACES, THINGS
from robot_client.twin.twin import Twin, make_twin
from robot_client.twin.world import park_pose


def _hue_pixels(image: np.ndarray, colour: tuple[float, float, float]) -> int:
    """Pixels whose direction in colour space is near that of a colour, and that are not dark."""
    pixels = image.reshape(-1, 3).astype(float)
    length = np.linalg.norm(pixels, axis=1) + 1e-9
    likeness = pixels @ (np.array(colour) / np.linalg.norm(colour)) / length
    return int(((likeness > 0.985) & (length > 60)).sum())


@pytest.mark.parametrize("role", ROLES)
def test_no_camera_is_blank_or_black_and_sizes_are_the_declared_ones(twin: Twin, role: str) -> None:
    twin.reset(1)
    image = twin.render(role)
    assert image.shape == (DEFAULT_SIZES[role].height, DEFAULT_SIZES[role].width, 3)
    assert image.dtype == np.uint8
    assert image.std() > 10
    assert (image.max(axis=2) < 8).mean() < 0.02


def test_the_top_camera_sees_every_thing_and_every_coloured_place_in_many_layouts(twin: Twin) -> None:
    for seed in range(12):
        twin.reset(seed)
        image = twin.render("top")
        for name in THINGS:
            assert _hue_pixels(image, THINGS[name].colour) >= 20, (seed, name)
        for name in ("bin", "box", "bowl"):
            assert _hue_pixels(image, PLACES[name].colour) >= 60, (seed, name)


def test_pictures_are_upright_left_is_left_and_red_is_red(twin: Twin) -> None:
    """Case B17: rows from the top, columns from the left, RGB. The left arm's side is the left half of the top view."""
    layout = _with_red_cube_far_left(twin)
    image = twin.render("top").astype(int)
    red = (image[:, :, 0] > 120) & (image[:, :, 1] < 60) & (image[:, :, 2] < 60)
    rows, columns = np.nonzero(red)
    assert len(rows) > 15
    assert columns.mean() < image.shape[1] / 2
    assert layout.things["red cube"].y_m > -0.305


def _with_red_cube_far_left(twin: Twin) -> Layout:
    for seed in range(50):
        layout = twin.reset(seed)
        if layout.things["red cube"].y_m > -0.2:
            return layout
    raise AssertionError("no such layout among 50")


@pytest.mark.parametrize("role", ["left_wrist", "right_wrist"])
def test_a_wrist_camera_looks_at_its_own_fingers(twin: Twin, role: str) -> None:
    """Opening and closing this hand changes the lower half of its picture; the other hand's picture stays the same."""
    pictures = {}
    for opening in (0.0, 1.0):
        twin.reset(3)
        target = park_pose()
        target[6 if role == "left_wrist" else 13] = opening
        twin.advance(target, 1.0)
        pictures[opening] = {name: twin.render(name).astype(int) for name in ("left_wrist", "right_wrist")}
    other = "right_wrist" if role == "left_wrist" else "left_wrist"
    changed = np.abs(pictures[0.0][role] - pictures[1.0][role]).max(axis=2) > 40
    assert changed[32:].mean() > 0.1
    assert (np.abs(pictures[0.0][other] - pictures[1.0][other]).max(axis=2) > 40).mean() < 0.02


def test_sizes_can_be_chosen_per_role() -> None:
    twin = make_twin({"top": Size(200, 80)})
    twin.reset(1)
    try:
        assert twin.render("top").shape == (80, 200, 3)
        assert twin.render("left_wrist").shape == (64, 64, 3)
    finally:
        twin.close()


def test_supersampling_averages_each_block_of_four_and_rounds() -> None:
    large = np.random.default_rng(1).integers(0, 256, (6, 10, 3), np.uint8)
    blocks = large.reshape(3, 2, 5, 2, 3).astype(float).mean(axis=(1, 3))
    np.testing.assert_array_equal(_averaged(large), np.floor(blocks + 0.5))


def test_two_renderers_in_one_thread_do_not_disturb_each_other(twin: Twin) -> None:
    """With another renderer's context current, or none after it closed, a picture was memory nobody had drawn in."""
    twin.reset(1)
    alone = twin.render("top")
    other = make_twin({"top": Size(200, 80)})
    other.reset(2)
    theirs = other.render("top")
    np.testing.assert_array_equal(twin.render("top"), alone)
    np.testing.assert_array_equal(other.render("top"), theirs)
    other.close()
    np.testing.assert_array_equal(twin.render("top"), alone)


@pytest.mark.parametrize("sizes", [{"wrist": Size(64, 64)}, {"top": Size(0, 64)}, {"top": Size(64, 5000)}])
def test_unknown_roles_and_sizes_out_of_range_are_refused(sizes: dict[str, Size]) -> None:
    """Case B19: a role that does not exist is named together with those that do."""
    with pytest.raises(ConfigurationError, match="camera"):
        checked_sizes(sizes)


def test_sizes_on_the_command_line_are_role_width_height() -> None:
    assert parse_size("top=96x64") == ("top", Size(96, 64))
    with pytest.raises(ConfigurationError, match="ROLE=WIDTHxHEIGHT"):
        parse_size("top:96x64")
