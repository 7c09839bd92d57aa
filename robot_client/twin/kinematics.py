"""Joint angles for a tool pose, by damped least squares on the twin's own model."""

from __future__ import annotations

import math
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from contract.errors import ActionError
from contract.layout import JOINTS_PER_ARM, Arm
from robot_client.twin.layouts import ARM_BASE_M

_ITERATIONS: Final = 80
_DAMPING: Final = 1e-3
_MOST_STEP_RAD: Final = 0.4
_POSITION_M: Final = 5e-4
_ANGLE_RAD: Final = 5e-3
_SEED: Final = np.array([0.0, 1.1, 1.2, -1.5, 0.0, 0.0])


class Kinematics:
    """Forward and inverse kinematics of both arms, on a private copy of the state."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        self._jacobian = np.zeros((6, model.nv))

    def tool_pose(self, arm: Arm, joints: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position (3,) [m] and rotation (3, 3) of the tool centre for joints (6,) [rad]; z points out, y closes."""
        self._set(arm, joints)
        site = self._data.site(f"tcp_{arm}")
        return site.xpos.copy(), site.xmat.reshape(3, 3).copy()

    def joints_for(
        self,
        arm: Arm,
        position_m: NDArray[np.float64],
        rotation: NDArray[np.float64],
        near: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Joints (6,) [rad] that bring the tool centre there; `ActionError` with what is missing when no joints do.

        `near` (6,) is where to start; by default a bent arm turned towards the point.
        """
        joints = self._start(arm, position_m) if near is None else np.array(near, np.float64)
        low, high = self._limits(arm)
        for _ in range(_ITERATIONS):
            error = self._error(arm, joints, position_m, rotation)
            if np.linalg.norm(error[:3]) < _POSITION_M and np.linalg.norm(error[3:]) < _ANGLE_RAD:
                return joints
            jacobian = self._tool_jacobian(arm)
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + _DAMPING**2 * np.eye(6), error)
            step *= min(1.0, _MOST_STEP_RAD / max(float(np.abs(step).max()), 1e-9))
            joints = np.clip(joints + step, low, high)
        raise ActionError(
            f"pose of the {arm} arm",
            expected="a point within reach",
            got=f"{np.round(position_m, 3).tolist()} m, missed by {1000 * np.linalg.norm(error[:3]):.1f} mm",
            remedy="choose a nearer or lower point",
        )

    def _error(
        self, arm: Arm, joints: NDArray[np.float64], position_m: NDArray[np.float64], rotation: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Position error [m] and rotation error [rad] (6,), in the world's frame."""
        at, turned = self.tool_pose(arm, joints)
        quaternion, angle = np.zeros(4), np.zeros(3)
        mujoco.mju_mat2Quat(quaternion, (rotation @ turned.T).ravel())
        mujoco.mju_quat2Vel(angle, quaternion, 1.0)
        return np.concatenate([position_m - at, angle])

    def _tool_jacobian(self, arm: Arm) -> NDArray[np.float64]:
        site = self._model.site(f"tcp_{arm}").id
        mujoco.mj_jacSite(self._model, self._data, self._jacobian[:3], self._jacobian[3:], site)
        return self._jacobian[:, self._columns(arm)]

    def _set(self, arm: Arm, joints: NDArray[np.float64]) -> None:
        for i in range(JOINTS_PER_ARM):
            self._data.joint(f"{arm}_joint{i + 1}").qpos[0] = joints[i]
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)

    def _columns(self, arm: Arm) -> list[int]:
        return [int(self._model.joint(f"{arm}_joint{i + 1}").dofadr[0]) for i in range(JOINTS_PER_ARM)]

    def _limits(self, arm: Arm) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        limits = np.array([self._model.joint(f"{arm}_joint{i + 1}").range for i in range(JOINTS_PER_ARM)])
        return limits[:, 0], limits[:, 1]

    def _start(self, arm: Arm, position_m: NDArray[np.float64]) -> NDArray[np.float64]:
        joints = _SEED.copy()
        joints[0] = azimuth(arm, position_m)
        return joints


def azimuth(arm: Arm, position_m: NDArray[np.float64]) -> float:
    """Direction [rad] of a point from an arm's base, about the vertical; also joint 1 of an arm that points at it."""
    base = ARM_BASE_M[arm]
    return math.atan2(position_m[1] - base[1], position_m[0] - base[0])


def pointing_down(yaw_rad: float) -> NDArray[np.float64]:
    """Rotation (3, 3) of a tool that points straight down and closes along a line `yaw_rad` away from the y axis."""
    closing = np.array([-math.sin(yaw_rad), math.cos(yaw_rad), 0.0])
    out = np.array([0.0, 0.0, -1.0])
    return np.stack([np.cross(closing, out), closing, out], axis=1)
