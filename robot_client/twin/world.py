"""The physics of the twin: put a layout on the table, follow targets, step, measure.

Deterministic; knows no wall clock.
"""

from __future__ import annotations

import math
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from contract.errors import ActionError
from contract.layout import ARMS, CHANNELS, GRIPPER_MASK, GRIPPER_TRAVEL_M, SIZE, URDF_NAMES, Arm, pack
from robot_client.rigs.base import Stop
from robot_client.twin.layouts import Layout, Spot
from robot_client.twin.scene import STEP_S
from robot_client.twin.things import THINGS

_PARK_ARM: Final = np.array([0.75, 1.0, 1.3, -1.5, 0.0, 0.0])
_OUTWARD: Final[dict[Arm, float]] = {"left": 1.0, "right": -1.0}
_START_NOISE_RAD: Final = 0.03
_SETTLE_STEPS: Final = 40
_JOINTS: Final = URDF_NAMES
"""Joint of each channel; the gripper's is its slide `*_joint7`, which joint8 mirrors."""
_TO_METRES: Final = np.where(GRIPPER_MASK, GRIPPER_TRAVEL_M, 1.0)


def park_pose() -> NDArray[np.float64]:
    """Targets (14,) with both arms folded outward, out of the top camera's view, grippers open."""
    left, right = (_PARK_ARM * [_OUTWARD[arm], 1, 1, 1, 1, 1] for arm in ARMS)
    return pack(left, 1.0, right, 1.0)


class World:
    """A compiled twin and its state."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model
        self.data = mujoco.MjData(model)
        self._position_at = np.array([model.joint(name).qposadr[0] for name in _JOINTS])
        self._speed_at = np.array([model.joint(name).dofadr[0] for name in _JOINTS])
        self._control_at = np.array([model.actuator(name).id for name in CHANNELS])
        limits = np.array([model.joint(name).range for name in _JOINTS])
        self._low, self._high = limits[:, 0], limits[:, 1]
        self._gain, self._bias = model.actuator_gainprm.copy(), model.actuator_biasprm.copy()
        self._gravcomp = model.body_gravcomp.copy()
        self._target = park_pose()

    @property
    def time_s(self) -> float:
        """Simulated time since the last reset [s]."""
        return float(self.data.time)

    @property
    def target(self) -> NDArray[np.float64]:
        """The targets being followed (14,), after limiting to the joints' ranges."""
        return self._target.copy()

    def reset(self, layout: Layout) -> None:
        """Arms parked (with the seed's small scatter), things at their spots, everything at rest."""
        mujoco.mj_resetData(self.model, self.data)
        self.power(Stop.HOLD)
        scatter = np.random.default_rng([layout.seed, 1]).uniform(-_START_NOISE_RAD, _START_NOISE_RAD, SIZE)
        self._place_arms(park_pose() + np.where(GRIPPER_MASK, 0.0, scatter))
        for name, spot in layout.things.items():
            self._place_thing(name, spot)
        for name, spot in layout.places.items():
            self._place_receptacle(name, spot)
        self.step(_SETTLE_STEPS)
        self.data.time = 0.0

    @property
    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest targets (14,) in the contract's layout; what lies beyond is followed to there."""
        return self._low / _TO_METRES, self._high / _TO_METRES

    def follow(self, target: NDArray[np.float64]) -> None:
        """Set position targets (14,) in the contract's layout.

        `ActionError` on what is not finite or another shape.
        """
        values = np.asarray(target, np.float64)
        if values.shape != (SIZE,) or not np.isfinite(values).all():
            raise ActionError("target of the twin", expected=f"{SIZE} finite numbers", got=f"{values.shape} {values}")
        metres = np.clip(values * _TO_METRES, self._low, self._high)
        self._target = metres / _TO_METRES
        self.data.ctrl[self._control_at] = metres

    def power(self, how: Stop) -> None:
        """HOLD: motors on. RELAX: motors off, gravity compensated. POWER_OFF: motors off, the arms fall."""
        on = 1.0 if how is Stop.HOLD else 0.0
        self.model.actuator_gainprm[:] = on * self._gain
        self.model.actuator_biasprm[:] = on * self._bias
        self.model.body_gravcomp[:] = 0.0 if how is Stop.POWER_OFF else self._gravcomp

    def step(self, steps: int = 1) -> None:
        """Advance by `steps` of `STEP_S`."""
        mujoco.mj_step(self.model, self.data, steps)

    def positions(self) -> NDArray[np.float64]:
        """Measured positions (14,): rad, gripper 0..1."""
        return self.data.qpos[self._position_at] / _TO_METRES

    def velocities(self) -> NDArray[np.float64]:
        """Measured velocities (14,): rad/s, gripper 1/s."""
        return self.data.qvel[self._speed_at] / _TO_METRES

    def body_position(self, name: str) -> NDArray[np.float64]:
        """Position (3,) [m] of a thing or place in the left base's frame, which is the world's."""
        return self.data.body(name).xpos.copy()

    def body_rotation(self, name: str) -> NDArray[np.float64]:
        """Rotation matrix (3, 3) of a thing or place."""
        return self.data.body(name).xmat.reshape(3, 3).copy()

    def thing_speed(self, name: str) -> float:
        """Speed of a thing's centre [m/s]."""
        start = self.model.joint(name).dofadr[0]
        return float(np.linalg.norm(self.data.qvel[start : start + 3]))

    def tool_position(self, arm: Arm) -> NDArray[np.float64]:
        """Tool centre (3,) [m] of an arm, between its fingertips."""
        return self.data.site(f"tcp_{arm}").xpos.copy()

    def _place_arms(self, pose: NDArray[np.float64]) -> None:
        self.follow(pose)
        self.data.qpos[self._position_at] = self._target * _TO_METRES
        for arm in ARMS:
            self.data.joint(f"{arm}_joint8").qpos[0] = self.data.joint(f"{arm}_joint7").qpos[0]

    def _place_thing(self, name: str, spot: Spot) -> None:
        start = self.model.joint(name).qposadr[0]
        half = spot.yaw_rad / 2
        height = THINGS[name].rest_height_m
        self.data.qpos[start : start + 7] = [spot.x_m, spot.y_m, height, math.cos(half), 0, 0, math.sin(half)]

    def _place_receptacle(self, name: str, spot: Spot) -> None:
        at = self.model.body(name).mocapid[0]
        half = spot.yaw_rad / 2
        self.data.mocap_pos[at] = [spot.x_m, spot.y_m, 0.0]
        self.data.mocap_quat[at] = [math.cos(half), 0, 0, math.sin(half)]


def steps_in(seconds: float) -> int:
    """Whole physics steps in a time [s], at least one."""
    return max(1, round(seconds / STEP_S))
