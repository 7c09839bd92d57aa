"""A leader that comes as named joints over any transport. Names decide, never places (B21)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import FieldError
from contract.layout import (
    ARMS,
    CHANNELS,
    GRIPPER_TRAVEL_M,
    SIZE,
    URDF_NAMES,
    Arm,
    arm_of,
    gripper_of,
    index,
    joints_of,
)
from contract.station import Station
from robot_client.teleop.calibrated import RELATCH_NS
from robot_client.teleop.sample import LeaderSample
from robot_client.teleop.turns import Continuous

_METRES: Final = frozenset(URDF_NAMES) - frozenset(CHANNELS)
"""Names under which a gripper comes as its slide in metres."""
_CHANNEL_OF: Final = dict(zip(URDF_NAMES, CHANNELS, strict=True)) | {name: name for name in CHANNELS}


class JointStateLeader:
    """`take` what a message says of some joints; `sample` is what is known of all. Needs no ROS.

    Both arms may come in one message or over several topics, in any order. An arm counts when all of its joints have
    come; the sample is as old as its oldest joint.
    """

    def __init__(self, station: Station, known_extra: Collection[str] = ()) -> None:
        self._extra = frozenset(known_extra)
        self._values, self._stamps = np.full(SIZE, np.nan), np.zeros(SIZE, np.int64)
        lower, upper = (station.safety.vectors(field, 0.5) for field in ("lower_rad", "upper_rad"))
        self._courses = {arm: Continuous(joints_of((lower + upper) / 2, arm), RELATCH_NS) for arm in ARMS}
        self._shown: dict[Arm, NDArray[np.float64]] = {}
        self._good_ns: dict[Arm, int] = {}

    def take(self, names: Sequence[str], positions: Sequence[float], stamp_ns: int) -> None:
        """Raises `FieldError` naming a joint that is unknown, given twice or not finite; then nothing is taken."""
        if len(names) != len(positions):
            raise FieldError("leader joints", expected=f"{len(names)} positions", got=len(positions))
        found: dict[int, float] = {}
        for name, position in zip(names, positions, strict=True):
            if name in self._extra:
                continue
            place = index(_CHANNEL_OF.get(name, name))
            if place in found:
                raise FieldError(f"joint {name}", expected="one value", got="two", remedy="publish each joint once")
            if not np.isfinite(position):
                raise FieldError(f"joint {name}", expected="a finite position", got=position)
            found[place] = position / GRIPPER_TRAVEL_M if name in _METRES else float(position)
        for place, value in found.items():
            self._values[place], self._stamps[place] = value, stamp_ns

    def sample(self, dead_man: bool = False, clutch: bool = True) -> LeaderSample:
        """What is known now; an arm of which joints are missing is NaN, and they are named."""
        values, missing = np.full(SIZE, np.nan), [CHANNELS[i] for i in np.flatnonzero(np.isnan(self._values))]
        stamps: list[int] = []
        for arm in ARMS:
            if np.isnan(arm_of(self._values, arm)).any():
                continue
            shown, stamp_ns = self._arm(arm)
            if shown is not None:
                arm_of(values, arm)[:] = shown
                stamps.append(stamp_ns)
        trouble = f"no joint {', '.join(missing)}" if missing else ""
        return LeaderSample(values, min(stamps, default=0), dead_man, clutch, trouble)

    def _arm(self, arm: Arm) -> tuple[NDArray[np.float64] | None, int]:
        """The newest believable reading of an arm; a glitch shows the one before, which then grows old."""
        stamp_ns = int(arm_of(self._stamps, arm).min())
        joints = self._courses[arm].take(joints_of(self._values, arm).copy(), int(arm_of(self._stamps, arm).max()))
        if joints is None:
            return self._shown.get(arm), self._good_ns.get(arm, 0)
        gripper = float(np.clip(gripper_of(self._values, arm), 0.0, 1.0))
        self._shown[arm], self._good_ns[arm] = np.append(joints, gripper), stamp_ns
        return self._shown[arm], stamp_ns
