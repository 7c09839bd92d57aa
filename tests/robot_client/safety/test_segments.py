"""Distances between lines against the smallest distance among many of their points."""

from __future__ import annotations

import numpy as np
import pytest

from robot_client.safety.segments import between, gap_along


def _points(segment: np.ndarray) -> np.ndarray:
    return segment[0] + np.linspace(0.0, 1.0, 401)[:, None] * (segment[1] - segment[0])


def _brute(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(_points(a)[:, None] - _points(b)[None], axis=-1).min())


def test_the_way_between_lines_is_the_shortest_one() -> None:
    random = np.random.default_rng(1)
    a, b = random.uniform(-1, 1, (60, 2, 3)), random.uniform(-1, 1, (60, 2, 3))
    a[:15] *= 0.1  # ends nearest to ends, too
    ways = between(a, b)
    for i in range(60):
        assert np.linalg.norm(ways[i]) <= _brute(a[i], b[i]) + 1e-12
        assert np.linalg.norm(ways[i]) == pytest.approx(_brute(a[i], b[i]), abs=6e-3)


@pytest.mark.parametrize(
    ("a", "b", "way"),
    [
        ([[0, 0, 0], [1, 0, 0]], [[0.5, -1, 2], [0.5, 1, 2]], [0, 0, 2]),
        ([[0, 0, 0], [1, 0, 0]], [[2, 0, 0], [3, 0, 0]], [1, 0, 0]),
        ([[0, 0, 0], [1, 0, 0]], [[3, 0, 0], [2, 0, 0]], [1, 0, 0]),
        ([[0, 0, 0], [1, 0, 0]], [[-3, 0, 0], [-2, 0, 0]], [-2, 0, 0]),
        ([[1, 0, 0], [0, 0, 0]], [[-3, 0, 0], [-2, 0, 0]], [-2, 0, 0]),
        ([[0, 0, 0], [0, 0, 0]], [[1, 1, 0], [1, 1, 0]], [1, 1, 0]),
        ([[0, 0, 0], [0, 0, 0]], [[-1, 2, 0], [3, 2, 0]], [0, 2, 0]),
        ([[-1, 2, 0], [3, 2, 0]], [[0, 0, 0], [0, 0, 0]], [0, -2, 0]),
        ([[0, 0, 0], [4, 0, 0]], [[1, 0, 3], [2, 0, 3]], [0, 0, 3]),
        ([[0, 0, 0], [1, 1, 0]], [[1, 0, 0], [0, 1, 0]], [0, 0, 0]),
        ([[0, 0, 0], [1e-4, 0, 0]], [[0, 1e-4, 0], [0, 2e-4, 0]], [0, 1e-4, 0]),
    ],
)
def test_parallel_touching_short_and_pointlike_lines(a: list, b: list, way: list) -> None:
    a_, b_ = np.array(a, float), np.array(b, float)
    found = between(a_, b_)
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(way), abs=1e-12)
    if abs(np.linalg.norm(way)) > 0 and not np.allclose(np.cross(a_[1] - a_[0], b_[1] - b_[0]), 0):
        np.testing.assert_allclose(found, way, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(between(b_, a_)), np.linalg.norm(way), atol=1e-12)


def test_the_way_leads_from_a_to_b() -> None:
    a, b = np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([[0.3, 2, -1], [0.3, 2, 1]])
    np.testing.assert_allclose(between(a, b), [0, 2, 0], atol=1e-12)
    np.testing.assert_allclose(between(b, a), [0, -2, 0], atol=1e-12)


def test_the_gap_is_measured_between_the_nearest_points_along_the_direction() -> None:
    a, b = np.array([[0.0, 0, 0], [1, 5, 0]]), np.array([[3.0, 0, 0], [7, -5, 0]])
    assert gap_along(np.array([1.0, 0, 0]), a, b) == pytest.approx(2.0)
    assert gap_along(np.array([-1.0, 0, 0]), a, b) == pytest.approx(-7.0)
    assert gap_along(np.array([0.0, 1, 0]), a, b) == pytest.approx(-10.0)


@pytest.mark.parametrize(("long_m", "short_m", "apart_m"), [(2e-4, 2e-4, 1e-4), (1.0, 1e-3, 1e-3), (1e-3, 1.0, 1e-3)])
def test_lines_that_cross_aslant_are_nearest_where_they_cross_however_short_they_are(
    long_m: float, short_m: float, apart_m: float
) -> None:
    a = np.array([[-0.5, 0, 0], [0.5, 0, 0]]) * long_m
    b = np.array([[-0.5, -0.5, 0], [0.5, 0.5, 0]]) * short_m / 2**0.5 + [0, 0, apart_m]
    np.testing.assert_allclose(between(a, b), [0, 0, apart_m], atol=1e-3 * apart_m)


def test_parallel_lines_in_any_direction_are_as_far_apart_as_they_are() -> None:
    """Rounding makes them a little skew, and the place where such lines cross is nowhere."""
    random = np.random.default_rng(2)
    for _ in range(200):
        direction, beside = np.linalg.qr(random.normal(size=(3, 3)))[0][:2]
        start, length = random.uniform(-1, 1), random.uniform(0.2, 2.0)
        a = random.normal(size=3) + np.outer([0.0, 1.0], direction)
        b = a[0] + 0.3 * beside + np.outer([start, start + length], direction)
        gap = max(0.0, start - 1.0, -start - length)
        assert np.linalg.norm(between(a, b)) == pytest.approx(np.hypot(0.3, gap), abs=1e-6)


def test_gaps_of_many_are_each_their_own() -> None:
    random = np.random.default_rng(3)
    a, b, direction = random.normal(size=(5, 4, 3)), random.normal(size=(5, 4, 3)), random.normal(size=(5, 3))
    singles = [gap_along(*each) for each in zip(direction, a, b, strict=True)]
    np.testing.assert_allclose(gap_along(direction, a, b), singles)
