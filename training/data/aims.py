"""Where the hand will close or open next, as a point in the top view: hindsight from the demonstration itself.

Only measured joints, gripper targets and the camera's calibration go in, which a real station's episode has too; no
object's place does. It teaches the head where to look (training.looking); a policy is never given it.
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from contract.layout import ARMS, gripper_of, joints_of
from robot_client.twin.kinematics import Kinematics
from robot_client.twin.scene import build_model
from training.data.library import Demonstration, Library, Moments

_HALF_OPEN = 0.5
EVENTS = 2
"""The next event and the one after it."""
NOWHERE = np.float32(np.nan)


class TopView:
    """The twin's top camera: points of the table to shares of the view."""

    def __init__(self, model: mujoco.MjModel) -> None:
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        camera = model.camera("top").id
        self._at, self._axes = data.cam_xpos[camera].copy(), data.cam_xmat[camera].reshape(3, 3).copy()
        self._half = np.tan(np.radians(model.cam_fovy[camera]) / 2)

    def project(self, points_m: NDArray[np.float64]) -> NDArray[np.float64]:
        """(..., 3) [m] -> (..., 2): right 0..1, down 0..1 in the (square) view."""
        local = (points_m - self._at) @ self._axes
        right, up = local[..., 0] / -local[..., 2], local[..., 1] / -local[..., 2]
        return np.stack([0.5 + 0.5 * right / self._half, 0.5 - 0.5 * up / self._half], -1)


def aims_of(library: Library, moments: Moments, cache: Path | None = None) -> NDArray[np.float32]:
    """(M, EVENTS, 2) points in the top view for every moment; NaN where no such event follows."""
    model = build_model(cache=cache)
    kinematics, view = Kinematics(model), TopView(model)
    aims = np.full((len(moments), EVENTS, 2), NOWHERE)
    order = np.argsort(moments.demonstration, kind="stable")
    numbers, starts = np.unique(moments.demonstration[order], return_index=True)
    for number, mine in zip(numbers, np.split(order, starts[1:]), strict=True):
        when, points = events(library.demonstrations[number], kinematics)
        if not when:
            continue
        seen = view.project(np.array(points))
        first = np.searchsorted(when, moments.moment[mine])
        for event in range(EVENTS):
            there = first + event < len(when)
            aims[mine[there], event] = seen[first[there] + event]
    return aims


def events(one: Demonstration, kinematics: Kinematics) -> tuple[list[int], list[NDArray[np.float64]]]:
    """Moments at which the working hand begins to close or open, and where its tool centre [m] is then."""
    start, working = one.entry.start, one.entry.working
    joints = np.asarray(one.shard.joints[start : start + working], np.float64)
    targets = np.asarray(one.shard.targets[start : start + working], np.float64)
    arm = max(ARMS, key=lambda name: float(np.ptp(joints_of(targets, name), axis=0).max()))
    closed = gripper_of(targets, arm) < _HALF_OPEN
    when = (np.flatnonzero(closed[1:] != closed[:-1]) + 1).tolist()
    return when, [kinematics.tool_pose(arm, joints_of(joints[moment], arm))[0] for moment in when]
