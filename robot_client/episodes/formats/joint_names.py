"""The 14 channels among the names of somebody else's vector. Names decide, never positions.

Seen in public YAM sets: `left_joint_0.pos` .. `left_joint_5.pos`, `left_joint1` .. `left_joint6`, `left_gripper`,
`left_gripper.pos`; besides them poses, rotations, velocities and torques, which are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError
from contract.layout import ARMS, CHANNELS, GRIPPER_MASK, JOINTS_PER_ARM

_JOINT: Final = re.compile(r"^(left|right)_(?:arm_)?(?:joint|j|q)_?(\d+)(?:[._](?:pos|position|q))?$")
_GRIPPER: Final = re.compile(r"^(left|right)_(?:arm_)?gripper(?:_(?:joint|opening))?(?:[._](?:pos|position))?$")
_MOST_SHOWN: Final = 16
_SLACK: Final = 0.1
"""A gripper may be read this far beyond closed and open."""


def flat_names(names: Any) -> list[str]:
    """Names as info.json has them: a list, a list in a list, or lists by group; [] when there are none."""
    if isinstance(names, Mapping):
        return [name for part in names.values() for name in flat_names(part)]
    if isinstance(names, list | tuple):
        return [name for part in names for name in (flat_names(part) if not isinstance(part, str) else [part])]
    return []


def channel_columns(names: Sequence[str], what: str) -> list[int]:
    """Column of each of the 14 channels. Raises `EpisodeError` naming the channels that no name stands for."""
    lowered = [name.lower().replace("-", "_").replace("/", "_") for name in names]
    found = {**_grippers(lowered, what), **_joints(lowered, what)}
    lacking = [channel for channel in CHANNELS if channel not in found]
    if lacking:
        shown = ", ".join(names[:_MOST_SHOWN]) + (", ..." if len(names) > _MOST_SHOWN else "")
        raise EpisodeError(
            what, expected="a name for each of the 14 channels", got=f"none for {', '.join(lacking)} in [{shown}]"
        )
    return [found[channel] for channel in CHANNELS]


def checked(values: NDArray, what: str) -> NDArray[np.float64]:
    """(N, 14) as float64. Raises `EpisodeError` for what is not finite and for grippers that are no opening 0..1."""
    values = np.asarray(values, np.float64)
    if not np.isfinite(values).all():
        raise EpisodeError(what, expected="finite numbers", got="NaN or infinity")
    grip = values[..., GRIPPER_MASK]
    if grip.size and (grip.min() < -_SLACK or grip.max() > 1.0 + _SLACK):
        raise EpisodeError(
            f"grippers of {what}",
            expected="openings, 0 closed to 1 open",
            got=f"{grip.min():.3g} to {grip.max():.3g}",
            remedy="convert them first",
        )
    return values


def _joints(names: Sequence[str], what: str) -> dict[str, int]:
    """Joints count from 0 or from 1: that is seen, not guessed."""
    found: dict[str, int] = {}
    for arm in ARMS:
        columns: dict[int, int] = {}
        for column, name in enumerate(names):
            match = _JOINT.match(name)
            if match and match[1] == arm:
                _once(int(match[2]) in columns, name, what)
                columns[int(match[2])] = column
        first = 0 if 0 in columns else 1
        found |= {f"{arm}_joint{i + 1}": columns[i + first] for i in range(JOINTS_PER_ARM) if i + first in columns}
    return found


def _grippers(names: Sequence[str], what: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for column, name in enumerate(names):
        match = _GRIPPER.match(name)
        if match:
            _once(f"{match[1]}_gripper" in found, name, what)
            found[f"{match[1]}_gripper"] = column
    return found


def _once(there: bool, name: str, what: str) -> None:
    if there:
        raise EpisodeError(what, expected="one column for each channel", got=f"two for {name}")
