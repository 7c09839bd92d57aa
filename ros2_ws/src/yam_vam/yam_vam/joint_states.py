"""sensor_msgs/JointState <-> the 14 values. By name, whatever the order; by index never."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from contract.errors import FieldError
from contract.layout import CHANNELS, URDF_NAMES, from_named
from robot_client.clock import NS_PER_S
from robot_client.episodes.ros_messages import from_urdf, to_urdf

_CHANNEL_OF: Final = dict(zip(URDF_NAMES, CHANNELS, strict=True))
KNOWN_EXTRA: Final = frozenset({"left_joint8", "right_joint8"})
"""The second finger of each gripper, which moves as the first one does."""


@dataclass(frozen=True, slots=True, eq=False)
class JointPart:
    """What one message says: position and speed by name, URDF units, stamped with ROS time."""

    positions: dict[str, float]
    velocities: dict[str, float]
    ros_ns: int


def part_of(message: Any) -> JointPart:
    """Raises `FieldError` naming a joint that is given twice or is not finite, or arrays that do not fit the names."""
    names, positions, velocities = list(message.name), list(message.position), list(message.velocity)
    if len(positions) != len(names) or len(velocities) not in (0, len(names)):
        got = f"{len(names)} names, {len(positions)} positions, {len(velocities)} velocities"
        raise FieldError("JointState", expected="a position for each name", got=got, remedy="mend its publisher")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FieldError(f"joint {twice[0]}", expected="one value", got="two", remedy="publish each joint once")
    for name, value in zip(names, positions, strict=True):
        if not np.isfinite(value):
            raise FieldError(f"joint {name}", expected="a finite position", got=value)
    stamp = message.header.stamp
    return JointPart(
        dict(zip(names, positions, strict=True)),
        dict(zip(names, velocities, strict=True)) if velocities else {},
        stamp.sec * NS_PER_S + stamp.nanosec,
    )


def vector_of(parts: Iterable[JointPart], extra: frozenset[str] = KNOWN_EXTRA) -> NDArray[np.float64]:
    """(14,) positions in the contract's layout from one message, or from one for each arm.

    Raises `FieldError` naming the joint that is missing, given twice or neither ours nor in `extra`.
    """
    names: list[str] = []
    values: list[float] = []
    for part in parts:
        names += part.positions
        values += part.positions.values()
    return from_urdf(from_named([_CHANNEL_OF.get(name, name) for name in names], values, extra))


def velocities_of(parts: Sequence[JointPart]) -> NDArray[np.float64] | None:
    """(14,) speeds, or None when a part does not say them."""
    merged = {name: value for part in parts for name, value in part.velocities.items()}
    if any(name not in merged for name in URDF_NAMES):
        return None
    return from_urdf(np.array([merged[name] for name in URDF_NAMES]))


def message_of(values: NDArray[np.float64], ros_ns: int, frame_id: str = "") -> JointState:
    """A JointState of (14,) positions, with names."""
    message = JointState()
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(ros_ns, NS_PER_S)
    message.header.frame_id = frame_id
    message.name = list(URDF_NAMES)
    message.position = to_urdf(values).tolist()
    return message
