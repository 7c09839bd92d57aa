"""Whether a set of poses can say where a camera sits: enough of them, turned about more than one axis (case B49)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from calibration.rigid import Matrix, inverse
from contract.errors import ConfigurationError

LEAST_POSES: Final = 8
LEAST_TURN_RAD: Final = np.radians(10.0)
"""Largest rotation between two poses must exceed this."""
LEAST_SPREAD: Final = 0.15
"""Second singular value of the rotation vectors over the first: 0 is one axis only, 1 any."""


def require_observable(hands: Sequence[Matrix], boards: Sequence[Matrix]) -> float:
    """How well rotations spread, 0 to 1. Raises `ConfigurationError` naming what the poses lack and what to do.

    A X = X B needs rotations about two axes that are not parallel (Tsai and Lenz 1989); with one axis X is free to
    slide along it, and with none it is free altogether.
    """
    if len(hands) < LEAST_POSES:
        raise _lack(f"at least {LEAST_POSES} poses", f"{len(hands)}", "collect more, turned in all directions")
    turns = _turns(hands)
    largest = float(np.linalg.norm(turns, axis=1).max())
    if largest < LEAST_TURN_RAD:
        raise _lack(
            f"rotations of more than {np.degrees(LEAST_TURN_RAD):.0f} degrees",
            f"{np.degrees(largest):.1f} degrees at most: translations only" if largest < 1e-3 else
            f"{np.degrees(largest):.1f} degrees at most",
            "turn the wrist by 30 degrees or more, about two axes",
        )  # fmt: skip
    singular = np.linalg.svd(turns, compute_uv=False)
    spread = float(singular[1] / singular[0])
    if spread < LEAST_SPREAD:
        raise _lack(
            "rotations about two axes", f"rotation about one axis only (spread {spread:.2f})",
            "turn the wrist about another axis too",
        )  # fmt: skip
    _require_same_angles(hands, boards)
    return spread


def _turns(poses: Sequence[Matrix]) -> NDArray[np.float64]:
    """(pairs, 3) rotation vectors between all pairs of poses."""
    relative = [inverse(a) @ b for i, a in enumerate(poses) for b in poses[i + 1 :]]
    return np.array([Rotation.from_matrix(one[:3, :3]).as_rotvec() for one in relative])


def _require_same_angles(hands: Sequence[Matrix], boards: Sequence[Matrix]) -> None:
    """Hand and board turn by the same angle whatever X is: where they do not, the pairs or frames are mixed up."""
    own = np.linalg.norm(_turns(hands), axis=1)
    seen = np.linalg.norm(_turns([inverse(board) for board in boards]), axis=1)
    apart = np.abs(own - seen)
    if float(np.median(apart)) > np.radians(2.0):
        raise _lack(
            "the board to turn as the hand turns",
            f"{np.degrees(np.median(apart)):.1f} degrees apart (median)",
            "check that pictures and arm poses belong together",
        )


def _lack(expected: str, got: str, remedy: str) -> ConfigurationError:
    return ConfigurationError("hand-eye poses", expected=expected, got=got, remedy=remedy)
