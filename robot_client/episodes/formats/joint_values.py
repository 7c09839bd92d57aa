"""Joints of a JointState by name, whatever their order. Loads nothing of images, for the control loop imports it."""

from __future__ import annotations

from functools import lru_cache
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
        places, scale = _order(tuple(message.name))
        values = np.asarray(message.position, np.float64)
        if len(values) != len(message.name):
            raise ValueError(f"{len(message.name)} names and {len(values)} positions")
        return np.asarray(values[places] / scale, np.float64)
    except (FieldError, ValueError) as error:
        raise EpisodeError(f"a message on {topic}", expected="the 14 joints by name", got=str(error)) from error


@lru_cache(maxsize=16)
def _order(names: tuple[str, ...]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Place of each channel among the names, and what its value is divided by. Raises `FieldError`.

    Remembered, because the names of a bag are the same in all its messages.
    """
    numbers = range(len(names))
    places = from_named([_CHANNEL_OF.get(name, name) for name in names], numbers).astype(np.intp)
    scale = np.array([GRIPPER_TRAVEL_M if names[place] in _SLIDES else 1.0 for place in places])
    return places, scale
