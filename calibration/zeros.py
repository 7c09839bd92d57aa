"""Zeros of joints 2 to 5 from views of a board: the only zeros with which one still board looks still from every pose.

Joint 1's zero cannot be told from a turn of the base, nor joint 6's from a turn of what the hand carries; these two
need a thing that no joint turns (calibration/zero_references.py). All cameras that saw an arm are fitted at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from calibration.hand_eye import Mounting, rough
from calibration.rigid import Matrix, from_vector, inverse, vector
from contract.errors import ConfigurationError
from robot_client.safety.kinematics import link_frames

SUSPECT_RAD: Final = 0.01
"""A zero that is this far off moves the fingertips by about 5 mm."""
FREE: Final = 4
"""Joints 2 to 5 come first among the fitted values."""
_JOINTS: Final = slice(1, 5)
_POSE: Final = 6
_ARM_M: Final = 0.2
_WORST_M: Final = 0.005
_STEP: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What one camera saw of one arm, pose by pose."""

    role: str
    mounting: Mounting
    joints: NDArray[np.float64]
    """(n, 6) measured [rad]."""
    boards: NDArray[np.float64]
    """(n, 4, 4) camera_from_board."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """One arm. For each camera, in the order of `roles`, its place and then the still board's follow the offsets."""

    roles: tuple[str, ...]
    values: NDArray[np.float64]
    covariance: NDArray[np.float64]

    @property
    def offsets_rad(self) -> NDArray[np.float64]:
        """(4,) measured less true of joints 2 to 5."""
        return self.values[:FREE]

    @property
    def uncertainty_rad(self) -> NDArray[np.float64]:
        """(4,) one standard deviation, from the residuals and how well the poses pin each joint down."""
        return np.sqrt(np.diag(self.covariance)[:FREE])

    def x(self, role: str, values: NDArray | None = None) -> Matrix:
        """hand_from_camera (eye in hand) or base_from_camera (eye to hand)."""
        start = FREE + 2 * _POSE * self.roles.index(role)
        return from_vector((self.values if values is None else values)[start:])

    def still(self, role: str, values: NDArray | None = None) -> Matrix:
        """base_from_board (eye in hand) or hand_from_board (eye to hand)."""
        start = FREE + 2 * _POSE * self.roles.index(role) + _POSE
        return from_vector((self.values if values is None else values)[start:])

    def deviation(self, of: Callable[[NDArray], float]) -> float:
        """Standard deviation of something computed from the fitted values."""
        slopes = [(of(self.values + step) - of(self.values - step)) / (2 * _STEP) for step in self._steps()]
        return float(np.sqrt(max(np.array(slopes) @ self.covariance @ np.array(slopes), 0.0)))

    def _steps(self) -> NDArray[np.float64]:
        return _STEP * np.eye(len(self.values))


def fit(seen: Sequence[Seen]) -> Fitted:
    """Zeros of one arm. Raises `ConfigurationError` for poses that say too little, or that no zeros explain."""
    start = np.concatenate([np.zeros(FREE), *(_start(one) for one in seen)])
    first = least_squares(_errors, start, args=(seen, np.ones(len(seen))))
    pieces = np.split(first.fun, np.cumsum([6 * len(one.joints) for one in seen])[:-1])
    # Cameras differ in how well they see; each counts by what it left over in a fit of all alike.
    noise = np.array([max(float(np.sqrt(np.mean(piece**2))), 1e-9) for piece in pieces])
    best = least_squares(_errors, first.x, args=(seen, noise))
    _require_explained(best.fun, seen, noise)
    spread = float(np.sum(best.fun**2)) / max(len(best.fun) - len(start), 1)
    return Fitted(tuple(one.role for one in seen), best.x, spread * np.linalg.pinv(best.jac.T @ best.jac))


def hands_of(joints: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 4, 4) base_from_hand of joints (n, 6) [rad]."""
    frames, origins = link_frames(joints)
    hands = np.tile(np.eye(4), (len(joints), 1, 1))
    hands[:, :3, :3], hands[:, :3, 3] = frames[:, 6], origins[:, 6]
    return hands


def _start(one: Seen) -> NDArray[np.float64]:
    x, still = rough(list(hands_of(one.joints)), list(one.boards), one.mounting)
    return np.concatenate([vector(x), vector(still)])


def _errors(values: NDArray, seen: Sequence[Seen], noise: NDArray) -> NDArray[np.float64]:
    rows = []
    for i, one in enumerate(seen):
        own = values[FREE + 2 * _POSE * i :]
        x, still = from_vector(own[:_POSE]), inverse(from_vector(own[_POSE : 2 * _POSE]))
        true = one.joints.copy()
        true[:, _JOINTS] -= values[:FREE]
        hands = hands_of(true)
        apart = still @ (hands if one.mounting == "eye_in_hand" else np.linalg.inv(hands)) @ x @ one.boards
        turns = Rotation.from_matrix(apart[:, :3, :3]).as_rotvec()
        rows.append((np.concatenate([_ARM_M * turns, apart[:, :3, 3]], axis=1) / noise[i]).ravel())
    return np.concatenate(rows)


def _require_explained(errors: NDArray, seen: Sequence[Seen], noise: NDArray) -> None:
    pieces = np.split(errors, np.cumsum([6 * len(one.joints) for one in seen])[:-1])
    for one, piece, scale in zip(seen, pieces, noise, strict=True):
        metres = float(np.median(np.linalg.norm(scale * piece.reshape(-1, 6)[:, 3:], axis=1)))
        if not metres < _WORST_M:
            raise ConfigurationError(
                f"views of {one.role}", expected=f"zeros that explain them within {1e3 * _WORST_M:.0f} mm",
                got=f"{1e3 * metres:.1f} mm", remedy="check that the board did not slip, and the lens's calibration",
            )  # fmt: skip
