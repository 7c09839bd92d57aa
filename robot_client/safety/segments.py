"""Distances between pieces of straight lines, many at once."""

from __future__ import annotations

from typing import Final

import numpy as np

from robot_client.safety.interval import Array, clipped

_TINY: Final = 1e-12
"""Squared lengths below this are points [m^2]."""


def between(a: Array, b: Array) -> Array:
    """(..., 3) the shortest way from segment a to segment b, both (..., 2, 3), between their nearest points.

    Ericson, Real-Time Collision Detection, 5.1.9.
    """
    way_a, way_b, apart = a[..., 1, :] - a[..., 0, :], b[..., 1, :] - b[..., 0, :], a[..., 0, :] - b[..., 0, :]
    aa, bb, ab = _dot(way_a, way_a), _dot(way_b, way_b), _dot(way_a, way_b)
    ac, bc = _dot(way_a, apart), _dot(way_b, apart)
    slant = aa * bb - ab * ab
    skew = slant > _TINY * np.maximum(aa * bb, _TINY)
    s = np.where(skew, clipped((ab * bc - ac * bb) / np.where(skew, slant, 1.0), 0.0, 1.0), 0.0)
    long_b = bb > _TINY
    t = np.where(long_b, clipped((ab * s + bc) / np.where(long_b, bb, 1.0), 0.0, 1.0), 0.0)
    # With t settled, the nearest point of a; where t was not clipped this changes nothing.
    long_a = aa > _TINY
    s = np.where(long_a, clipped((ab * t - ac) / np.where(long_a, aa, 1.0), 0.0, 1.0), 0.0)
    return t[..., None] * way_b - s[..., None] * way_a - apart


def gap_along(direction: Array, a: Array, b: Array) -> Array:
    """(...) how far all points b lie beyond all points a along `direction` (..., 3); a and b are (..., K, 3).

    A lower bound of the distance between their convex hulls when the direction has length 1.
    """
    return (b @ direction[..., None])[..., 0].min(axis=-1) - (a @ direction[..., None])[..., 0].max(axis=-1)


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("...i,...i->...", a, b)
