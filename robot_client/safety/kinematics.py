"""Where a YAM arm's links and tool centre are and how joint speeds move the tool.

Plain numpy: the control loop loads no simulator. The chain is i2rt's `yam_station_linear_4310_d405` (bodies link1 ..
gripper, site tcp), rounded to 0.1 micrometre; tests compare it with MuJoCo on that model. Both arms are the same chain
on two bases.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_H: Final = 0.5**0.5
_LINKS: Final = (
    ((-2e-7, 0.0, 0.068), (1.2986717e-06, 0.70710808, 1.2986765e-06, -0.70710548), (-1.0, 0.0, 0.0)),
    ((-0.0455, -0.0339, -0.02), (-1.3267949e-06, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
    ((4e-7, -0.0688, 0.264), (-1.3267949e-06, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
    ((-0.0600003, -0.0688, -0.244999), (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    ((-0.0405003, 0.0338995, -0.0739989), (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    ((0.0404996, 2e-7, -0.0356), (0.0, _H, _H, 0.0), (0.0, 0.0, 1.0)),
)
"""Per joint: origin [m] and orientation (w, x, y, z) in the link before it, and its axis in its own frame."""
_TOOL_M: Final = np.array((3.89e-05, 9.68e-05, 0.1446503))
"""Tool centre in the gripper's frame: the middle between the fingertips."""


def _cross_matrix(x: float, y: float, z: float) -> Vector:
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _rotation(w: float, *xyz: float) -> Vector:
    cross = _cross_matrix(*xyz)
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


_ORIGINS: Final = np.array([origin for origin, _, _ in _LINKS])
_FRAMES: Final = np.array([_rotation(*quaternion) for _, quaternion, _ in _LINKS])
_AXES: Final = np.array([axis for _, _, axis in _LINKS])
_CROSS: Final = np.array([_cross_matrix(*axis) for axis in _AXES])


def _in_space(turn: Vector, shift: Vector | float = 0.0, last: float = 0.0) -> Vector:
    """(..., 4, 4) with `turn` (..., 3, 3) and `shift` (..., 3) in it."""
    made = np.zeros((*turn.shape[:-2], 4, 4))
    made[..., :3, :3], made[..., :3, 3], made[..., 3, 3] = turn, shift, last
    return made


_STRAIGHT: Final = _in_space(_FRAMES, _ORIGINS, 1.0)
_BY_SINE: Final = _in_space(_FRAMES @ _CROSS)
_BY_COSINE: Final = _in_space(_FRAMES @ _CROSS @ _CROSS)
LINK_REACH_M: Final = np.concatenate([[0.0, 0.0], np.cumsum(np.linalg.norm(_ORIGINS[1:], axis=-1))])
"""How far the origins of base, link1 .. gripper can be from the first joint; the difference of two, from each other."""
TOOL_REACH_M: Final = float(np.linalg.norm(_TOOL_M))
"""How far the tool centre is from the gripper's origin."""
_NEXT: Final = np.array([1, 2, 0])
_AFTER: Final = np.array([2, 0, 1])


def base_at(turn: Vector, origin_m: Vector) -> Vector:
    """(..., 4, 4) where a base stands, from its rotation (..., 3, 3) and origin (..., 3)."""
    return _in_space(turn, origin_m, 1.0)


ORIGIN: Final = base_at(np.eye(3), np.zeros(3))
"""A base that is where everything is measured from."""


def link_frames(joints: Vector, base: Vector = ORIGIN) -> tuple[Vector, Vector]:
    """Rotations (..., 7, 3, 3) and origins (..., 7, 3) [m] of base, link1 .. gripper, at `joints` (..., 6) [rad].

    In the frame in which `base` (..., 4, 4) stands.
    """
    sines, cosines = np.sin(joints)[..., None, None], np.cos(joints)[..., None, None]
    # Rodrigues: R = I + sin q K + (1 - cos q) K^2 about each joint's own axis.
    turned = _STRAIGHT + sines * _BY_SINE + (1.0 - cosines) * _BY_COSINE
    links = np.empty((*joints.shape[:-1], 7, 4, 4))
    links[..., 0, :, :] = base
    for i in range(6):
        np.matmul(links[..., i, :, :], turned[..., i, :, :], out=links[..., i + 1, :, :])
    return links[..., :3, :3], links[..., :3, 3]


def tool_centre(frames: Vector, origins: Vector) -> Vector:
    """Tool centre (..., 3) [m] from `link_frames`."""
    return origins[..., 6, :] + frames[..., 6, :, :] @ _TOOL_M


def jacobian_of(frames: Vector, origins: Vector, tool: Vector) -> Vector:
    """(..., 3, 6) [m/rad] how joints move the tool centre `tool` (..., 3), from `link_frames`."""
    axes = (frames[..., 1:, :, :] @ _AXES[:, :, None])[..., 0]
    lever = tool[..., None, :] - origins[..., 1:, :]
    return np.swapaxes(_crossed(axes, lever), -1, -2)


def tool_jacobian(joints: Vector) -> tuple[Vector, Vector]:
    """Tool centre (..., 3) [m] in the arm's base frame, and its Jacobian (..., 3, 6) [m/rad], at `joints` (..., 6)."""
    frames, origins = link_frames(joints)
    tool = tool_centre(frames, origins)
    return tool, jacobian_of(frames, origins, tool)


def _crossed(a: Vector, b: Vector) -> Vector:
    """np.cross along the last axis, at a third of its price for small arrays."""
    return a.take(_NEXT, -1) * b.take(_AFTER, -1) - a.take(_AFTER, -1) * b.take(_NEXT, -1)
