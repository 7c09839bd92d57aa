"""Jogging by small steps, of a joint or of a tool centre: pure, at a speed that a person can follow."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import ARMS, GRIPPER_MASK, SIZE, Arm, arm_of, index, joints_of
from contract.station import Station
from robot_client.safety.kinematics import tool_jacobian

JOINT_STEP_RAD: Final = 0.02
TOOL_STEP_M: Final = 0.01
GRIPPER_STEP: Final = 0.1
_AHEAD_STEPS: Final = 5
"""Presses that are kept; a key that was held too long does not go on moving for seconds."""
_DAMPING: Final = 0.05
"""Of the inverse [m/rad]: near a singularity the tool goes slower, not the joints faster."""
_GRIPPER_1_S: Final = 1.0


class Jog:
    """`pose` (14,) walks towards what the presses add up to, at the station's jogging speeds."""

    def __init__(self, station: Station) -> None:
        rules = station.teleop
        self._lower, self._upper = station.safety.vectors("lower_rad", 0.0), station.safety.vectors("upper_rad", 1.0)
        self._speed = np.where(GRIPPER_MASK, _GRIPPER_1_S, rules.jog_rad_s)
        self._tool_m_s = rules.jog_m_s
        self.pose = np.full(SIZE, np.nan)
        self._wanted = self.pose.copy()
        self.arm: Arm = ARMS[0]
        self.joint = 1
        """Number of the chosen joint, as printed on the arm: 1 to 6."""

    def set(self, pose: NDArray[np.float64]) -> None:
        """Begin here; presses before are forgotten."""
        self.pose, self._wanted = np.array(pose, np.float64), np.array(pose, np.float64)

    def other_arm(self) -> None:
        """The keys move the other arm from now on."""
        self.arm = next(arm for arm in ARMS if arm != self.arm)

    def step_joint(self, direction: int) -> None:
        """The chosen joint."""
        change = np.zeros(SIZE)
        change[index(f"{self.arm}_joint{self.joint}")] = direction * JOINT_STEP_RAD
        self._add(joints_of(change, self.arm), JOINT_STEP_RAD)

    def step_tool(self, direction: NDArray[np.float64]) -> None:
        """The tool centre along (3,) in the arm's base frame, by damped least squares; the wrist comes along."""
        _, jacobian = tool_jacobian(joints_of(self._wanted, self.arm))
        inner = jacobian @ jacobian.T + _DAMPING**2 * np.eye(3)
        change = jacobian.T @ np.linalg.solve(inner, TOOL_STEP_M * np.asarray(direction, np.float64))
        self._add(change, max(float(np.abs(change).max()), 1e-9))

    def step_gripper(self, direction: int) -> None:
        """Open or close a little."""
        place = index(f"{self.arm}_gripper")
        self._wanted[place] = min(max(self._wanted[place] + direction * GRIPPER_STEP, 0.0), 1.0)

    def advance(self, seconds: float) -> NDArray[np.float64]:
        """The pose after that long, joints and tool below their jogging speeds; NaN before `set`."""
        if not np.isfinite(self.pose).all():
            return self.pose.copy()
        way = self._wanted - self.pose
        longest_s = np.abs(way) / self._speed
        for arm in ARMS:
            needed_s = max(float(arm_of(longest_s, arm).max()), self._tool_s(way, arm))
            share = 1.0 if needed_s <= seconds else seconds / needed_s
            arm_of(self.pose, arm)[:] += share * arm_of(way, arm)
        return self.pose.copy()

    def _tool_s(self, way: NDArray[np.float64], arm: Arm) -> float:
        _, jacobian = tool_jacobian(joints_of(self.pose, arm))
        return float(np.linalg.norm(jacobian @ joints_of(way, arm))) / self._tool_m_s

    def _add(self, change: NDArray[np.float64], step: float) -> None:
        joints, here = joints_of(self._wanted, self.arm), joints_of(self.pose, self.arm)
        most = _AHEAD_STEPS * step
        moved = np.clip(joints + change, here - most, here + most)
        joints[:] = np.clip(moved, joints_of(self._lower, self.arm), joints_of(self._upper, self.arm))
