"""Where a YAM arm's tool centre is and how joint speeds move it. Plain numpy: the control loop loads no simulator.

The chain is i2rt's `yam_station_linear_4310_d405` (bodies link1 .. gripper, site tcp), rounded to 0.1 micrometre; tests
compare it with MuJoCo on that model. Both arms are the same chain on two bases.
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


def _rotation(w: float, x: float, y: float, z: float) -> Vector:
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


_ORIGINS: Final = np.array([origin for origin, _, _ in _LINKS])
_FRAMES: Final = np.array([_rotation(*quaternion) for _, quaternion, _ in _LINKS])
_AXES: Final = np.array([axis for _, _, axis in _LINKS])
_CROSS: Final = np.array([[[0, -z, y], [z, 0, -x], [-y, x, 0]] for x, y, z in _AXES])
_CROSS_TWICE: Final = _CROSS @ _CROSS


def tool_jacobian(joints: Vector) -> tuple[Vector, Vector]:
    """Tool centre (3,) [m] in the arm's base frame, and its Jacobian (3, 6) [m/rad], at `joints` (6,) [rad]."""
    sines, cosines = np.sin(joints)[:, None, None], np.cos(joints)[:, None, None]
    # Rodrigues: R = I + sin q K + (1 - cos q) K^2 about each joint's own axis.
    turned = _FRAMES @ (np.eye(3) + sines * _CROSS + (1.0 - cosines) * _CROSS_TWICE)
    place, frame = np.zeros(3), np.eye(3)
    places, axes = np.empty((6, 3)), np.empty((6, 3))
    for i in range(6):
        place = place + frame @ _ORIGINS[i]
        frame = frame @ turned[i]
        places[i], axes[i] = place, frame @ _AXES[i]
    tool = place + frame @ _TOOL_M
    return tool, np.cross(axes, tool - places).T
