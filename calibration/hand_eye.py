"""Hand-eye calibration: where a camera sits on the hand (eye in hand) or beside the arm (eye to hand).

For every pose i the arm says `base_from_hand` and the camera says `camera_from_board`. Eye in hand: the board stands
still in the base, hand_from_camera is wanted. Eye to hand: the board is held by the hand, base_from_camera is wanted.
Both are A X = X B; eye to hand is eye in hand with every base_from_hand inverted.

Three of OpenCV's solvers must agree before their result is refined jointly, with the board's own pose, over all poses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from calibration.motion import require_observable
from calibration.rigid import Matrix, difference, from_vector, inverse, require_rigid, vector
from contract.errors import ConfigurationError

Mounting = Literal["eye_in_hand", "eye_to_hand"]

SOLVERS: Final = {
    "Park": cv2.CALIB_HAND_EYE_PARK,
    "Horaud": cv2.CALIB_HAND_EYE_HORAUD,
    "Daniilidis": cv2.CALIB_HAND_EYE_DANIILIDIS,
}
LARGEST_DISAGREEMENT_M: Final = 0.005
LARGEST_RESIDUAL_M: Final = 0.005
LARGEST_RESIDUAL_RAD: Final = 0.02
OUTLIER: Final = 6.0
"""A pose whose residual is this many times the median, and above the floor below, is named as the fault."""
_FLOOR_M: Final = 0.003
_ARM_M: Final = 0.2
"""A rotation error counts as this lever: radians to metres in the joint refinement."""


@dataclass(frozen=True, slots=True, eq=False)
class HandEye:
    """A calibrated camera."""

    x: Matrix
    """hand_from_camera (eye in hand) or base_from_camera (eye to hand)."""
    board: Matrix
    """base_from_board (eye in hand) or hand_from_board (eye to hand)."""
    residuals_m: NDArray[np.float64]
    """(n,) distance of the board's origin from where it should be."""
    residuals_rad: NDArray[np.float64]
    solvers: dict[str, tuple[float, float]]
    """Each solver's distance [m] and angle [rad] from the refined result."""
    condition: float
    """How well the rotations pin the translation down: smallest over largest singular value, 1 is best."""


def solve(base_from_hand: Sequence[NDArray], camera_from_board: Sequence[NDArray], mounting: Mounting) -> HandEye:
    """The camera's place. Raises `ConfigurationError` naming the lack, and `FieldError` for what is no transform."""
    hands, boards = _checked(base_from_hand, camera_from_board)
    carried = hands if mounting == "eye_in_hand" else [inverse(one) for one in hands]
    condition = require_observable(carried, boards)
    answers = {name: _opencv(carried, boards, method) for name, method in SOLVERS.items()}
    x, still = _refine(carried, boards, _agreed(answers, carried, boards))
    moved = [difference(still, hand @ x @ board) for hand, board in zip(carried, boards, strict=True)]
    metres, radians = (np.array(values) for values in zip(*moved, strict=True))
    _require_small(metres, radians)
    return HandEye(x, still, metres, radians, {n: difference(x, a) for n, a in answers.items()}, condition)


def rough(
    base_from_hand: Sequence[NDArray], camera_from_board: Sequence[NDArray], mounting: Mounting
) -> tuple[Matrix, Matrix]:
    """X and the still board by one solver, however badly they fit: where a fit of more than them begins.

    Raises `ConfigurationError` for poses that cannot say it.
    """
    hands, boards = _checked(base_from_hand, camera_from_board)
    carried = hands if mounting == "eye_in_hand" else [inverse(one) for one in hands]
    require_observable(carried, boards)
    x = _opencv(carried, boards, SOLVERS["Park"])
    if not _is_rigid(x):
        raise ConfigurationError("hand-eye", expected="a transform", got="none", remedy=_blame({}, carried, boards))
    return x, carried[0] @ x @ boards[0]


def held_out(result: HandEye, hand: NDArray, board: NDArray, mounting: Mounting) -> tuple[float, float]:
    """Error [m], [rad] of a pose that took no part: the board from the arm against the board from the camera."""
    carried = require_rigid(hand, "hand") if mounting == "eye_in_hand" else inverse(require_rigid(hand, "hand"))
    return difference(result.board, carried @ result.x @ require_rigid(board, "board"))


def _checked(hands: Sequence[NDArray], boards: Sequence[NDArray]) -> tuple[list[Matrix], list[Matrix]]:
    if len(hands) != len(boards):
        raise ConfigurationError("poses", expected=f"{len(hands)} of the board", got=len(boards), remedy="pair them")
    return (
        [require_rigid(one, f"arm pose {i}") for i, one in enumerate(hands)],
        [require_rigid(one, f"board pose {i}") for i, one in enumerate(boards)],
    )


def _opencv(hands: Sequence[Matrix], boards: Sequence[Matrix], method: int) -> Matrix:
    turned, moved = cv2.calibrateHandEye(
        [one[:3, :3] for one in hands],
        [one[:3, 3] for one in hands],
        [one[:3, :3] for one in boards],
        [one[:3, 3] for one in boards],
        method=method,
    )
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = turned, np.asarray(moved).reshape(3)
    return made


def _agreed(answers: dict[str, Matrix], hands: Sequence[Matrix], boards: Sequence[Matrix]) -> Matrix:
    """The start of the refinement. Raises `ConfigurationError` when the solvers do not agree."""
    finite = {name: one for name, one in answers.items() if _is_rigid(one)}
    pairs = [(a, b, difference(finite[a], finite[b])[0]) for a in finite for b in finite if a < b]
    worst = max(pairs, key=lambda pair: pair[2], default=("", "", float("inf")))
    if len(finite) < len(answers) or worst[2] > LARGEST_DISAGREEMENT_M:
        missing = sorted(set(answers) - set(finite))
        apart = f"{worst[0]}, {worst[1]}: {1e3 * worst[2]:.1f} mm"
        got = f"{', '.join(missing)} gave no transform" if missing else apart
        raise ConfigurationError(
            "hand-eye solvers",
            expected=f"within {1e3 * LARGEST_DISAGREEMENT_M:.0f} mm of each other",
            got=got,
            remedy=_blame(finite, hands, boards),
        )
    return next(iter(finite.values()))


def _is_rigid(answer: Matrix) -> bool:
    """Poses that contradict each other make solvers answer with NaN or a mirrored frame."""
    return bool(np.isfinite(answer).all()) and float(np.linalg.det(answer[:3, :3])) > 0


def _blame(answers: dict[str, Matrix], hands: Sequence[Matrix], boards: Sequence[Matrix]) -> str:
    """What to look at: a pose that fits nothing, or the frames and units of all of them."""
    if answers:
        x = next(iter(answers.values()))
        stills = [hand @ x @ board for hand, board in zip(hands, boards, strict=True)]
        centre = np.median([one[:3, 3] for one in stills], axis=0)
        metres = np.array([np.linalg.norm(one[:3, 3] - centre) for one in stills])
        outlier = _outlier(metres)
        if outlier is not None:
            return f"pose {outlier} fits no other; take it out or measure it again"
    return "check the units (metres), the direction of each transform, and which way the camera is mounted"


def _refine(hands: Sequence[Matrix], boards: Sequence[Matrix], start: Matrix) -> tuple[Matrix, Matrix]:
    """X and the still frame that fit all poses best, large errors counting less."""
    stills = [hand @ start @ board for hand, board in zip(hands, boards, strict=True)]
    first = np.concatenate([vector(start), vector(stills[0])])

    def errors(values: NDArray) -> NDArray:
        x, still = from_vector(values[:6]), inverse(from_vector(values[6:]))
        rows = [vector(still @ hand @ x @ board) for hand, board in zip(hands, boards, strict=True)]
        return np.concatenate([np.concatenate([_ARM_M * row[:3], row[3:]]) for row in rows])

    best = least_squares(errors, first, loss="soft_l1", f_scale=_FLOOR_M)
    return from_vector(best.x[:6]), from_vector(best.x[6:])


def _require_small(metres: NDArray, radians: NDArray) -> None:
    outlier = _outlier(metres)
    median_m, median_rad = float(np.median(metres)), float(np.median(radians))
    if outlier is not None:
        raise ConfigurationError(
            f"hand-eye pose {outlier}",
            expected=f"about {1e3 * median_m:.1f} mm off, as the others",
            got=f"{1e3 * metres[outlier]:.1f} mm",
            remedy="take it out or measure it again",
        )
    if median_m > LARGEST_RESIDUAL_M or median_rad > LARGEST_RESIDUAL_RAD:
        raise ConfigurationError(
            "hand-eye residual",
            expected=f"at most {1e3 * LARGEST_RESIDUAL_M:.0f} mm and {np.degrees(LARGEST_RESIDUAL_RAD):.1f} degrees",
            got=f"{1e3 * median_m:.1f} mm and {np.degrees(median_rad):.2f} degrees",
            remedy="check the units (metres), the direction of each transform, and which way the camera is mounted",
        )


def _outlier(metres: NDArray) -> int | None:
    worst = int(np.argmax(metres))
    others = float(np.median(metres))
    return worst if metres[worst] > max(_FLOOR_M, OUTLIER * others) else None
