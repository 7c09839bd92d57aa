"""Joints of a JointState by name, whatever their order. Loads nothing of images, for the control loop imports it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError, FieldError
from contract.layout import CHANNELS, GRIPPER_TRAVEL_M, URDF_NAMES, from_named

_CHANNEL_OF: Final = dict(zip(URDF_NAMES, CHANNELS, strict=True))
_SLIDES: Final = frozenset(set(URDF_NAMES) - set(CHANNELS))
"""URDF names of the grippers' slides, in metres; under our own channel names a gripper is an opening 0..1."""


def joint_values(message: Any, topic: str) -> NDArray[np.float64]:
    """(14,) in the contract's layout from a JointState, whatever its order. Raises `EpisodeError`."""
    try:
        pairs = zip(message.name, message.position, strict=True)
        values = [value / GRIPPER_TRAVEL_M if name in _SLIDES else value for name, value in pairs]
        return from_named([_CHANNEL_OF.get(name, name) for name in message.name], values)
    except (FieldError, ValueError) as error:
        raise EpisodeError(f"a message on {topic}", expected="the 14 joints by name", got=str(error)) from error
