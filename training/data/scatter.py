"""Starts from anywhere: the hand already out over the table, as after a grasp that missed.

A demonstration that always starts parked shows hardly ever what to do when the hand hovers, open or closed on nothing,
beside the thing; a policy trained on those alone stops there.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from contract.errors import ActionError
from contract.layout import GRIPPER_MASK, arm_of, joints_of
from robot_client.twin.kinematics import Kinematics, azimuth, pointing_down
from robot_client.twin.layouts import Spot, reachable
from robot_client.twin.twin import Twin

_NEAR_SHARE: Final = 0.7
_NEAR_M: Final = 0.05
_HEIGHT_M: Final = (0.075, 0.15)
_OPENING: Final = (0.15, 0.95)
_TURN_RAD: Final = 0.3
_TRIES: Final = 20
_TRAVEL_S: Final = 2.0


def start_anywhere(twin: Twin, rng: np.random.Generator) -> None:
    """Bring the layout's arm over a random point, mostly near the object, with a random opening."""
    kinematics, arm, parked = Kinematics(twin.world.model), twin.layout.arm, twin.world.target
    for _ in range(_TRIES):
        point = _point(twin, rng)
        if not reachable(Spot(float(point[0]), float(point[1]), 0.0), arm):
            continue
        try:
            joints = kinematics.joints_for(arm, point, pointing_down(azimuth(arm, point) + rng.normal(0.0, _TURN_RAD)))
        except ActionError:
            continue
        target = parked.copy()
        joints_of(target, arm)[:] = joints
        arm_of(target, arm)[arm_of(GRIPPER_MASK, arm)] = rng.uniform(*_OPENING)
        twin.glide(parked, target, _TRAVEL_S)
        return


def _point(twin: Twin, rng: np.random.Generator) -> np.ndarray:
    spot = twin.layout.things[twin.layout.task.object]
    if rng.random() < _NEAR_SHARE:
        x, y = np.array([spot.x_m, spot.y_m]) + rng.normal(0.0, _NEAR_M, 2)
    else:
        x, y = rng.uniform(0.17, 0.47), rng.uniform(-0.63, 0.02)
    return np.array([x, y, rng.uniform(*_HEIGHT_M)])
