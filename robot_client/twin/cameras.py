"""The cameras of the station: three for the policy, one for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np

from contract.errors import ConfigurationError

_OPTICAL: Final = (0.0, 1.0, 0.0, 0.0)
"""MuJoCo's cameras look along -z with y up, an optical frame has z forward and y down: half a turn about x."""

_MOUNTED: Final = {
    "top": ("top_camera", 36.0),
    "left_wrist": ("left_camera", 70.0),
    "right_wrist": ("right_camera", 70.0),
}
"""Body that is the optical frame, and vertical field of view [degrees]."""

POLICY_ROLES: Final[tuple[str, ...]] = tuple(_MOUNTED)
OVERVIEW: Final = "overview"
ROLES: Final[tuple[str, ...]] = (*POLICY_ROLES, OVERVIEW)
_LARGEST: Final = 1920

SUPERSAMPLE: Final = 2
"""Pictures are drawn this many times larger each way and averaged down: on a software renderer that is smoother than
multisampling at 60 % of its cost."""


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height of an image [pixels]."""

    width: int
    height: int


DEFAULT_SIZES: Final[Mapping[str, Size]] = {
    "top": Size(128, 128),
    "left_wrist": Size(64, 64),
    "right_wrist": Size(64, 64),
    OVERVIEW: Size(640, 360),
}


def checked_sizes(sizes: Mapping[str, Size]) -> dict[str, Size]:
    """The sizes, or `ConfigurationError` naming the role that is unknown or the size that is out of range."""
    for role, size in sizes.items():
        if role not in ROLES:
            raise ConfigurationError("camera role of the twin", expected=", ".join(ROLES), got=role)
        if not (8 <= size.width <= _LARGEST and 8 <= size.height <= _LARGEST):
            raise ConfigurationError(
                f"image size of camera {role}",
                expected=f"8..{_LARGEST} pixels each way",
                got=f"{size.width}x{size.height}",
            )
    return dict(sizes)


def parse_size(text: str) -> tuple[str, Size]:
    """`top=128x96` (width x height) as role and size."""
    role, _, size = text.partition("=")
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise ConfigurationError("image size", expected="ROLE=WIDTHxHEIGHT", got=text, remedy="for example top=128x128")
    return role, checked_sizes({role: Size(int(width), int(height))})[role]


def add_cameras(spec: mujoco.MjSpec, sizes: Mapping[str, Size]) -> None:
    """Cameras of all roles, and an off-screen buffer that the largest image fits in."""
    for role, (body, fovy) in _MOUNTED.items():
        spec.body(body).add_camera(name=role, quat=_OPTICAL, fovy=fovy)
    eye, aim = np.array([1.22, -0.80, 0.80]), np.array([0.19, -0.325, 0.13])
    spec.worldbody.add_camera(name=OVERVIEW, pos=eye, quat=_looking(aim - eye), fovy=40.0)
    spec.visual.global_.offwidth = SUPERSAMPLE * max(size.width for size in sizes.values())
    spec.visual.global_.offheight = SUPERSAMPLE * max(size.height for size in sizes.values())
    spec.visual.quality.offsamples = 0
    spec.visual.map.znear = 0.01
    spec.visual.map.zfar = 20.0


def _looking(forward: np.ndarray) -> np.ndarray:
    """Quaternion of a camera that looks along `forward` with the world's z up."""
    back = -forward / np.linalg.norm(forward)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.stack([right, np.cross(back, right), back], axis=1).ravel())
    return quaternion
