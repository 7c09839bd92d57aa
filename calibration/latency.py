"""Delays of a station, measured while one channel moves to and fro through loop and safety."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.board import Board
from calibration.cell import Cell
from calibration.course import Wiggle
from calibration.detection import LEAST_CORNERS, AnotherBoardError, Sighting, find
from calibration.lag import Lag, Signal, lag_of, signal
from contract.errors import ConfigurationError
from contract.layout import Arm, index
from robot_client.rigs.base import Frame
from robot_client.ticks import TickRecord

ARM_JOINT: Final = "joint4"
ARM_RAD: Final = 0.2
GRIPPER: Final = 0.4
CAMERA_JOINT: Final = "joint5"
CAMERA_RAD: Final = 0.1
SECONDS: Final = 6.0
_SEEN_SHARE: Final = 0.9
_NEW_READINGS: Final = 20


def arm_lag(cell: Cell, arm: Arm, seconds: float = SECONDS) -> Lag:
    """Command to motion of one arm where it stands: what it is told against what is measured, at their stamps."""
    return _told_to_measured(cell, index(f"{arm}_{ARM_JOINT}"), ARM_RAD, seconds, f"{arm} arm")


def gripper_lag(cell: Cell, arm: Arm, seconds: float = SECONDS) -> Lag:
    """The same of a gripper that stands half open."""
    return _told_to_measured(cell, index(f"{arm}_gripper"), GRIPPER, seconds, f"{arm} gripper")


def joints_lag(cell: Cell, arm: Arm, seconds: float = 1.0) -> Lag:
    """Age of new joint readings when the loop first sees them: from their stamp, with the wait for the loop's tick.

    What the driver does before it stamps cannot be seen from here; that is part of the arm's own latency.
    """
    ticks = cell.follow(Wiggle(index(f"{arm}_{ARM_JOINT}"), ARM_RAD / 10, seconds), seconds)
    fresh = [t for before, t in pairwise(ticks) if t.measured_stamp_ns != before.measured_stamp_ns]
    if len(fresh) < _NEW_READINGS:
        raise ConfigurationError("joint readings", expected=f"{_NEW_READINGS} new ones", got=len(fresh))
    ages = np.array([t.stamp_ns - t.measured_stamp_ns for t in fresh]) / 1e9
    return Lag(max(float(np.median(ages)), 0.0), 1.96 * float(np.std(ages)) / len(ages) ** 0.5, 1.0)


def camera_lag(cell: Cell, board: Board, role: str, arm: Arm, seconds: float = SECONDS) -> Lag:
    """Exposure to stamp of a camera that sees the board move, or moves before it, against the joint's own stamps."""
    frames: dict[int, Frame] = {}

    def take(tick: TickRecord) -> None:
        frame = cell.rig.frames().get(role)
        if frame is not None:
            frames.setdefault(frame.stamp_ns, frame)

    channel = index(f"{arm}_{CAMERA_JOINT}")
    ticks = cell.follow(Wiggle(channel, CAMERA_RAD, seconds), seconds, take)
    joint = _measured(ticks, channel)
    return lag_of(joint, _seen(board, list(frames.values()), role), f"camera {role}")


def _told_to_measured(cell: Cell, channel: int, amplitude: float, seconds: float, name: str) -> Lag:
    ticks = cell.follow(Wiggle(channel, amplitude, seconds), seconds)
    told = signal(np.array([t.stamp_ns for t in ticks]), np.array([_of(t.told, channel) for t in ticks]))
    return lag_of(told, _measured(ticks, channel), name)


def _measured(ticks: list[TickRecord], channel: int) -> Signal:
    return signal(np.array([t.measured_stamp_ns for t in ticks]), np.array([_of(t.measured, channel) for t in ticks]))


def _of(values: NDArray[np.float64] | None, channel: int) -> float:
    return float("nan") if values is None else float(values[channel])


def _seen(board: Board, frames: list[Frame], role: str) -> Signal:
    """Where the board's corners are in the picture, along the line on which they move most [px]."""
    sightings = [_found(board, frame) for frame in frames]
    ids = _steady(sightings, board.corners)
    if len(ids) < LEAST_CORNERS:
        raise ConfigurationError(
            f"camera {role}", expected=f"{LEAST_CORNERS} corners of the board all the time", got=len(ids),
            remedy="bring the whole board into the middle of its picture",
        )  # fmt: skip
    whole = [i for i, one in enumerate(sightings) if np.isin(ids, one.ids).all()]
    middles = np.array([sightings[i].pixels[np.isin(sightings[i].ids, ids)].mean(0) for i in whole])
    moved = middles - middles.mean(0)
    line = np.linalg.svd(moved, full_matrices=False)[2][0]
    return signal(np.array([frames[i].stamp_ns for i in whole]), moved @ line)


def _found(board: Board, frame: Frame) -> Sighting:
    """A picture blurred by the motion may show markers and no corners: it is one picture less, not another board."""
    try:
        return find(board, frame.image)
    except AnotherBoardError:
        return Sighting(np.zeros(0, np.int64), np.zeros((0, 2)), 0)


def _steady(sightings: list[Sighting], corners: int) -> NDArray[np.int64]:
    """Ids that are nearly always there: the mean of different corners would leap."""
    counts = np.bincount(np.concatenate([one.ids for one in sightings]).astype(np.int64), minlength=corners)
    return np.flatnonzero(counts >= _SEEN_SHARE * len(sightings))
