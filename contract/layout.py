"""The one place that knows which of the 14 values is which.

A bimanual vector is `[left joints 1..6 (rad), left gripper, right joints 1..6 (rad), right gripper]`, gripper 0 =
closed, 1 = open. Code outside this file never writes an index: it uses the slices, masks and names here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contract.errors import FieldError

Arm = Literal["left", "right"]
ARMS: Final[tuple[Arm, ...]] = get_args(Arm)
JOINTS_PER_ARM: Final = 6
ARM_SIZE: Final = JOINTS_PER_ARM + 1
SIZE: Final = ARM_SIZE * len(ARMS)

CHANNELS: Final[tuple[str, ...]] = tuple(
    f"{arm}_{part}" for arm in ARMS for part in (*(f"joint{i}" for i in range(1, JOINTS_PER_ARM + 1)), "gripper")
)
_INDEX: Final = {name: i for i, name in enumerate(CHANNELS)}

GRIPPER_MASK: Final[NDArray[np.bool_]] = np.array([name.endswith("gripper") for name in CHANNELS])
JOINT_MASK: Final[NDArray[np.bool_]] = ~GRIPPER_MASK
GRIPPER_MASK.flags.writeable = False
JOINT_MASK.flags.writeable = False

GRIPPER_TRAVEL_M: Final = 0.04695
"""Travel of `*_joint7` of the linear 4310 gripper; range of that joint in i2rt's station model."""

URDF_NAMES: Final[tuple[str, ...]] = tuple(
    f"{name.removesuffix('gripper')}joint7" if name.endswith("gripper") else name for name in CHANNELS
)
"""Joint names of i2rt's station URDF in our order; `*_joint7` is the gripper's slide in metres."""


def index(name: str) -> int:
    """Position of a channel by name; unknown names raise `FieldError` listing the known ones."""
    if name not in _INDEX:
        raise FieldError("joint name", expected=", ".join(CHANNELS), got=name, remedy="use one of the names listed")
    return _INDEX[name]


def arm_slice(arm: Arm) -> slice:
    """Slice of one arm's 7 values (6 joints, gripper)."""
    start = ARM_SIZE * ARMS.index(arm)
    return slice(start, start + ARM_SIZE)


def arm_of(vector: NDArray, arm: Arm) -> NDArray:
    """View (..., 7) of one arm in a (..., 14) array."""
    return vector[..., arm_slice(arm)]


def joints_of(vector: NDArray, arm: Arm) -> NDArray:
    """View (..., 6) of one arm's joints [rad]."""
    return arm_of(vector, arm)[..., :JOINTS_PER_ARM]


def joints_of_both(vector: NDArray) -> NDArray:
    """View (..., 2, 6) of both arms' joints [rad] in a (..., 14) array, in the order of `ARMS`."""
    return vector.reshape(*vector.shape[:-1], len(ARMS), ARM_SIZE)[..., :JOINTS_PER_ARM]


def per_arm(values: NDArray) -> NDArray:
    """(..., 14) from one value per arm (..., 2), in the order of `ARMS`."""
    return np.repeat(values, ARM_SIZE, axis=-1)


def gripper_of(vector: NDArray, arm: Arm) -> NDArray:
    """View (...) of one arm's gripper opening, 0 closed .. 1 open."""
    return arm_of(vector, arm)[..., JOINTS_PER_ARM]


def pack(left_joints: ArrayLike, left_gripper: float, right_joints: ArrayLike, right_gripper: float) -> NDArray:
    """The (14,) float64 vector of two arms' joints [rad] and gripper openings."""
    return np.concatenate(
        [np.asarray(left_joints, float), [left_gripper], np.asarray(right_joints, float), [right_gripper]]
    )


def from_named(names: Sequence[str], values: Iterable[float], known_extra: frozenset[str] = frozenset()) -> NDArray:
    """The (14,) vector from values matched by channel name, in whatever order they came.

    Raises `FieldError` naming the joint when one is missing, given twice, or neither ours nor in `known_extra`.
    """
    found: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        if name in known_extra:
            continue
        index(name)
        if name in found:
            raise FieldError(f"joint {name}", expected="one value", got="two", remedy="publish each joint once")
        found[name] = value
    missing = [name for name in CHANNELS if name not in found]
    if missing:
        raise FieldError(
            "joints", expected="all 14", got=f"no {', '.join(missing)}", remedy="publish the missing joints"
        )
    return np.array([found[name] for name in CHANNELS], float)
