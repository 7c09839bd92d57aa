"""The waypoints of one pick-and-place: over the thing, down, close, up, over the place, down, open, up, home."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import GRIPPER_TRAVEL_M, Arm, arm_of
from robot_client.twin.kinematics import Kinematics, azimuth, pointing_down
from robot_client.twin.things import PLACES, THINGS
from robot_client.twin.world import World, park_pose
from training.expert.path import Waypoint

HOVER_M: Final = 0.125
_LOWEST_TOOL_M: Final = 0.014
_DROP_M: Final = 0.012
_OPEN: Final = 0.8
_RELEASE_SPARE_M: Final = 0.026
_SQUEEZE_M: Final = 0.012
_CLEARS_WALL_M: Final = 0.03


def pick(world: World, kinematics: Kinematics, arm: Arm, thing: str) -> list[Waypoint]:
    """Hover open, go down around the thing, close, lift: from where the thing is now."""
    at = world.body_position(thing)
    rotation = pointing_down(grasp_yaw(world, arm, thing))
    height = max(min(THINGS[thing].rest_height_m, at[2]), _LOWEST_TOOL_M)
    above = _pose(kinematics, arm, np.array([at[0], at[1], HOVER_M]), rotation)
    down = _pose(kinematics, arm, np.array([at[0], at[1], height]), rotation, above)
    closed = max(THINGS[thing].grip_width_m - _SQUEEZE_M, 0.0) / (2 * GRIPPER_TRAVEL_M)
    return [
        _waypoint(arm, above, _OPEN, 0.8, "hover over the thing"),
        _waypoint(arm, down, _OPEN, 0.6, "go down"),
        _waypoint(arm, down, closed, 0.4, "close"),
        _waypoint(arm, above, closed, 0.6, "lift"),
    ]


def put(world: World, kinematics: Kinematics, arm: Arm, thing: str, place: str) -> list[Waypoint]:
    """Carry, lower, open, rise, go home."""
    at, shape = world.body_position(place), PLACES[place]
    rotation = pointing_down(azimuth(arm, at))
    height = shape.floor_m + THINGS[thing].rest_height_m + _DROP_M
    if shape.wall_height_m > _CLEARS_WALL_M:
        height = max(height, shape.wall_height_m - 0.01)
    above = _pose(kinematics, arm, np.array([at[0], at[1], HOVER_M]), rotation)
    down = _pose(kinematics, arm, np.array([at[0], at[1], height]), rotation, above)
    width = THINGS[thing].grip_width_m
    closed = max(width - _SQUEEZE_M, 0.0) / (2 * GRIPPER_TRAVEL_M)
    opened = (width + _RELEASE_SPARE_M) / (2 * GRIPPER_TRAVEL_M)
    return [
        _waypoint(arm, above, closed, 0.8, "carry"),
        _waypoint(arm, down, closed, 0.6, "lower"),
        _waypoint(arm, down, opened, 0.4, "open"),
        _waypoint(arm, above, opened, 0.5, "rise"),
        Waypoint(park_pose(), 0.8, "go home"),
    ]


def grasp_yaw(world: World, arm: Arm, thing: str) -> float:
    """Closing direction [rad]: across the thing, as near as its symmetry allows to how the arm points anyway."""
    natural = azimuth(arm, world.body_position(thing))
    symmetry = THINGS[thing].symmetry
    if symmetry == 0:
        return natural
    rotation = world.body_rotation(thing)
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    period = math.pi / symmetry
    return yaw + period * round((natural - yaw) / period)


def rise(world: World, kinematics: Kinematics, arm: Arm) -> list[Waypoint]:
    """Straight up from wherever the hand is, open: the start of another try."""
    at = world.tool_position(arm)
    above = _pose(kinematics, arm, np.array([at[0], at[1], HOVER_M]), pointing_down(azimuth(arm, at)))
    return [_waypoint(arm, above, _OPEN, 0.6, "rise")]


def _pose(
    kinematics: Kinematics,
    arm: Arm,
    position_m: NDArray[np.float64],
    rotation: NDArray[np.float64],
    near: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    return kinematics.joints_for(arm, position_m, rotation, near)


def _waypoint(arm: Arm, joints: NDArray[np.float64], gripper: float, least_s: float, purpose: str) -> Waypoint:
    """The other arm stays parked."""
    target = park_pose()
    arm_of(target, arm)[:] = [*joints, min(gripper, 1.0)]
    return Waypoint(target, least_s, purpose)
