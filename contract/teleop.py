"""The `[teleop]` section of a station file: how a person's hand takes over, and how each leader reads."""

from __future__ import annotations

from math import pi
from typing import Annotated, Literal

from pydantic import Field, model_validator

from contract.layout import JOINTS_PER_ARM
from contract.server_info import Row, Strict

_Six = Annotated[tuple[float, ...], Row, Field(min_length=JOINTS_PER_ARM, max_length=JOINTS_PER_ARM)]
_Signs = Annotated[tuple[Literal[-1, 1], ...], Row, Field(min_length=JOINTS_PER_ARM, max_length=JOINTS_PER_ARM)]
_Devices = Annotated[tuple[int, ...], Row, Field(min_length=JOINTS_PER_ARM + 1, max_length=JOINTS_PER_ARM + 1)]
_ZEROS = (0.0,) * JOINTS_PER_ARM
_ONES = (1,) * JOINTS_PER_ARM


class LeaderCalibration(Strict):
    """One leader: joint = sign * raw + offset [rad], in the turn nearest to the middle of the follower's limits."""

    signs: _Signs = _ONES  # type: ignore[assignment]
    offsets_rad: _Six = _ZEROS
    gripper_closed_open: Annotated[tuple[float, float], Row] = (1.0, 0.0)
    """Raw reading of the trigger where the gripper is to be closed, and where open. i2rt's handle says 1 pressed."""
    devices: _Devices = (1, 2, 3, 4, 5, 6, 7)
    """Encoders alone: device numbers of joints 1 to 6 and of the trigger."""

    @model_validator(mode="after")
    def _usable(self) -> LeaderCalibration:
        closed, opened = self.gripper_closed_open
        if not abs(opened - closed) >= 0.05:
            raise ValueError(f"trigger travel {abs(opened - closed):.3f} is too short: measure closed and open again")
        if not all(abs(offset) <= 2 * pi for offset in self.offsets_rad):
            raise ValueError(f"offsets_rad {self.offsets_rad}: finite, at most one turn")
        if len(set(self.devices)) != len(self.devices):
            raise ValueError(f"devices {self.devices}: two joints on one encoder")
        return self


class Teleop(Strict):
    """Rules of every handoff to a person's hand."""

    left: LeaderCalibration = LeaderCalibration()
    right: LeaderCalibration = LeaderCalibration()
    leader_ms: Annotated[float, Field(gt=0.0, le=1000.0, allow_inf_nan=False)] = 200.0
    """A leader without news for longer is stale: the arms hold."""
    dead_man: bool = False
    """The operator must keep a button pressed; letting go of it holds the arms."""
    tolerance_rad: Annotated[float, Field(gt=0.0, le=0.3, allow_inf_nan=False)] = 0.06
    """Leader and follower stand together. Above the 0.032 rad by which motors sag under gravity."""
    tolerance_gripper: Annotated[float, Field(gt=0.0, le=0.5, allow_inf_nan=False)] = 0.1
    ramp_within_rad: Annotated[float, Field(gt=0.0, le=3.2, allow_inf_nan=False)] = 1.0
    """A passive leader further away than this is refused; nearer, the follower is ramped to it."""
    ramp_share: Annotated[float, Field(gt=0.0, le=0.5, allow_inf_nan=False)] = 0.2
    """Of the speed and acceleration limits, for that ramp."""
    align_s: Annotated[float, Field(gt=0.0, le=60.0, allow_inf_nan=False)] = 10.0
    """Longest wait for a leader with motors to come to the follower."""
    jog_rad_s: Annotated[float, Field(gt=0.0, le=0.5, allow_inf_nan=False)] = 0.2
    """Speed of a joint jogged by keyboard."""
    jog_m_s: Annotated[float, Field(gt=0.0, le=0.1, allow_inf_nan=False)] = 0.05
    """Speed of a tool centre jogged by keyboard."""
