"""Rigid transforms as 4 x 4 matrices, `a_from_b` taking points of frame b to frame a."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from contract.errors import FieldError

Matrix = NDArray[np.float64]
"""(4, 4)."""


def matrix(rotation: NDArray, translation_m: NDArray) -> Matrix:
    """From a rotation matrix (3, 3) or rotation vector (3,) [rad] and a translation (3,) [m]."""
    turned = np.asarray(rotation, np.float64)
    made = np.eye(4)
    made[:3, :3] = turned if turned.shape == (3, 3) else Rotation.from_rotvec(turned.reshape(3)).as_matrix()
    made[:3, 3] = np.asarray(translation_m, np.float64).reshape(3)
    return made


def inverse(transform: Matrix) -> Matrix:
    """b_from_a of a_from_b."""
    turned = transform[:3, :3].T
    return matrix(turned, -turned @ transform[:3, 3])


def vector(transform: Matrix) -> NDArray[np.float64]:
    """(6,): rotation vector [rad], translation [m]."""
    return np.concatenate([Rotation.from_matrix(transform[:3, :3]).as_rotvec(), transform[:3, 3]])


def from_vector(values: NDArray) -> Matrix:
    """The inverse of `vector`."""
    return matrix(values[:3], values[3:6])


def angle_rad(transform: Matrix) -> float:
    """Angle of its rotation, 0 to pi."""
    return float(Rotation.from_matrix(transform[:3, :3]).magnitude())


def difference(a: Matrix, b: Matrix) -> tuple[float, float]:
    """Distance of the origins [m] and angle [rad] between two transforms."""
    relative = inverse(a) @ b
    return float(np.linalg.norm(a[:3, 3] - b[:3, 3])), angle_rad(relative)


def require_rigid(transform: NDArray, name: str) -> Matrix:
    """The transform in float64. Raises `FieldError` for what is none: not finite, sheared, mirrored, another shape."""
    given = np.asarray(transform, np.float64)
    rigid = given.shape == (4, 4) and bool(np.isfinite(given).all()) and np.allclose(given[3], (0, 0, 0, 1))
    if rigid:
        turned = given[:3, :3]
        # float32 input is a rotation to about 1e-6 (case B49).
        rigid = np.allclose(turned @ turned.T, np.eye(3), atol=1e-4) and np.linalg.det(turned) > 0
    if not rigid:
        raise FieldError(name, expected="a rigid 4 x 4 transform", got=f"{given.shape}, {given.reshape(-1)[:4]}")
    # The nearest rotation, so that nothing downstream grows the rounding of float32.
    left, _, right = np.linalg.svd(given[:3, :3])
    return matrix(left @ right, given[:3, 3])
