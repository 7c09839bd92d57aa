"""Where the station's cameras sit, and how the two arms' bases stand to each other, from views of one board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.board import Board
from calibration.camera import Camera
from calibration.cell import hand_pose
from calibration.hand_eye import HandEye, Mounting, held_out, solve
from calibration.pose import board_pose
from calibration.rigid import Matrix, inverse
from calibration.views import View
from contract.layout import joints_of

_HELD_OUT_EVERY = 5


@dataclass(frozen=True, slots=True, eq=False)
class Eye:
    """A calibrated place of a camera, with its error on poses that took no part."""

    result: HandEye
    poses: int
    held_out_m: float
    held_out_rad: float


def place(board: Board, camera: Camera, views: Sequence[View], mounting: Mounting) -> Eye:
    """hand_from_camera (eye in hand) or base_from_camera (eye to hand) from views of one arm; every fifth is held out.

    Raises `ConfigurationError` as `hand_eye.solve` and `pose.board_pose` do.
    """
    hands = [hand_pose(joints_of(view.joints, view.arm)) for view in views]
    boards = [board_pose(board, camera.scaled(*view.size), view.sighting)[0] for view in views]
    kept = [i for i in range(len(views)) if i % _HELD_OUT_EVERY]
    result = solve([hands[i] for i in kept], [boards[i] for i in kept], mounting)
    rest = [i for i in range(len(views)) if i % _HELD_OUT_EVERY == 0]
    errors = np.array([held_out(result, hands[i], boards[i], mounting) for i in rest])
    metres, radians = np.sqrt(np.mean(np.square(errors), axis=0))
    return Eye(result, len(kept), float(metres), float(radians))


def bases(left: Eye, right: Eye) -> Matrix:
    """left_base_from_right_base, from one camera that both arms showed the board to, or one board both looked at.

    The common frame is the camera's (eye to hand) or the board's (eye in hand): `x` in the one, `board` in the other.
    """
    return left.result.x @ inverse(right.result.x)


def bases_by_board(left: Eye, right: Eye) -> Matrix:
    """left_base_from_right_base from wrist cameras that both looked at one board which was not moved."""
    return left.result.board @ inverse(right.result.board)
