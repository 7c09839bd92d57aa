"""Intrinsics: the lens that drew the views is found again, and views that cannot tell it are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from calibration import twin
from calibration.board import Board
from calibration.camera import Camera
from calibration.coverage import coverage, drawn
from calibration.detection import Sighting
from calibration.intrinsics import calibrate
from calibration.rigid import Matrix, matrix
from contract.errors import ConfigurationError
from tests.calibration.views import CAMERA, facing, turned

BOARD = Board(columns=8, rows=6, square_m=0.03, marker_m=0.022)


def seen(pose: Matrix, noise_px: float = 0.1, seed: int = 0) -> Sighting:
    """Corners as a detector gives them, those outside the picture left out."""
    pixels = CAMERA.project(pose, BOARD.points_m())
    pixels = pixels + noise_px * np.random.default_rng(seed).standard_normal(pixels.shape)
    inside = (pixels > 0).all(1) & (pixels[:, 0] < CAMERA.width) & (pixels[:, 1] < CAMERA.height)
    return Sighting(np.flatnonzero(inside), pixels[inside], BOARD.markers)


def all_over(count: int = 40, tilt: float = 0.6, away: float = 0.12) -> list[Sighting]:
    """The board in every part of the picture."""
    rng = np.random.default_rng(0)
    views = []
    for i in range(count):
        aside = matrix(np.zeros(3), np.append(rng.uniform(-away, away, 2) * (1.3, 1.0), rng.uniform(-0.1, 0.15)))
        views.append(seen(turned(BOARD, aside @ facing(BOARD, 0.4), tilt * rng.uniform(-1, 1, 3)), seed=i))
    return views


def test_the_lens_is_found_again_with_an_honest_error() -> None:
    found = calibrate(BOARD, all_over(), CAMERA.width, CAMERA.height)
    assert found.camera.fx == pytest.approx(CAMERA.fx, rel=2e-3)
    assert found.camera.fy == pytest.approx(CAMERA.fy, rel=2e-3)
    assert (found.camera.cx, found.camera.cy) == pytest.approx((CAMERA.cx, CAMERA.cy), abs=1.5)
    # The noise was 0.1 px along each axis.
    assert found.rms_px == pytest.approx(0.14, abs=0.02)
    assert found.held_out_px == pytest.approx(0.14, abs=0.03)
    assert found.per_view_px.max() < 0.3


@pytest.mark.parametrize(
    ("views", "says"),
    [
        (all_over(8), "different ones"),
        (all_over(4) * 10, "different ones"),
        (all_over(40, tilt=0.02), "tilted"),
        (all_over(40, away=0.005), "corners too"),
        ([], "different ones"),
    ],
)
def test_views_that_cannot_tell_are_refused_with_what_to_do(views: list[Sighting], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        calibrate(BOARD, views, CAMERA.width, CAMERA.height)


def test_a_bent_board_is_refused_by_the_views_held_out() -> None:
    bent = []
    for one in all_over():
        points = BOARD.points_m()[one.ids]
        bump = 30.0 * np.sin(np.pi * points[:, 0] / 0.24)
        bent.append(Sighting(one.ids, one.pixels + np.stack([0 * bump, bump], 1), one.markers))
    with pytest.raises(ConfigurationError, match=r"flat|tilted|px"):
        calibrate(BOARD, bent, CAMERA.width, CAMERA.height)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_smaller_stream_of_the_same_sensor_is_scaled_about_the_corner(factor: float) -> None:
    scaled = CAMERA.scaled(int(CAMERA.width * factor), int(CAMERA.height * factor))
    pose = turned(BOARD, facing(BOARD), np.array([0.3, 0.2, 0.1]))
    whole = CAMERA.project(pose, BOARD.points_m())
    np.testing.assert_allclose(scaled.project(pose, BOARD.points_m()), (whole + 0.5) * factor - 0.5, atol=1e-9)


def test_a_stream_of_another_shape_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="calibrate at this one"):
        CAMERA.scaled(640, 360)


def test_the_coverage_map_is_blank_where_the_board_never_was() -> None:
    left = Sighting(np.arange(30), np.tile([50.0, 50.0], (30, 1)), 10)
    lines = drawn(coverage([left], 640, 480))
    assert lines[0].startswith("|###") and set(lines[3]) == {"|", " "}


def test_a_camera_file_without_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="fx"):
        Camera(width=640, height=480, fx=float("nan"), fy=1.0, cx=0.0, cy=0.0)


def test_a_wide_lens_is_followed_to_its_end_and_not_for_thirty_steps() -> None:
    """Corners that the twin's right wrist camera saw (343 px). OpenCV's own end of the search left it at 348 px, with
    a residual that looked good."""
    entries = json.loads((Path(__file__).parent / "wide_lens.json").read_text(encoding="utf-8"))
    views = [Sighting(np.array(one["ids"]), np.array(one["pixels"]), len(one["ids"]) // 2) for one in entries]
    found = calibrate(twin.BOARD, views, 640, 480)
    true_px = 240 / np.tan(np.radians(35.0))
    assert found.camera.fx == pytest.approx(true_px, rel=3e-3) and found.rms_px < 0.08
