"""The `[safety.space]` section of a station file: where the arms stand, and what is around them."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from contract.arm_shape import Length, Point
from contract.layout import Arm
from contract.server_info import Row, Strict


class Base(Strict):
    """Where an arm's base stands in the station's frame: its origin, and its turn about the vertical."""

    position_m: Point
    yaw_rad: Annotated[float, Field(ge=-np.pi, le=np.pi)] = 0.0


class Plane(Strict):
    """The table's top: points p with normal . p = offset_m."""

    normal: Point
    offset_m: float
    tool_m: float
    """Least height of a tool centre; the middle between the fingertips, which end 2 mm further."""
    arm_m: float
    """Least height of everything of an arm but its fingers."""

    @model_validator(mode="after")
    def _unit(self) -> Plane:
        length = float(np.linalg.norm(self.normal))
        if abs(length - 1.0) > 1e-3:
            raise ValueError(f"normal has length {length:.4f}, not 1")
        return self


class Box(Strict):
    """Where the tool centres may be, in the station's frame [m]."""

    lower_m: Point
    upper_m: Point

    @model_validator(mode="after")
    def _ordered(self) -> Box:
        for axis, low, high in zip("xyz", self.lower_m, self.upper_m, strict=True):
            if not low < high:
                raise ValueError(f"{axis}: lower {low} is not below upper {high}")
        return self


class Obstacle(Strict):
    """A fixed part of the station: everything within `radius_m` of a line, in the station's frame."""

    name: Annotated[str, Field(min_length=1, max_length=32)]
    from_m: Point
    to_m: Point
    radius_m: Annotated[float, Field(gt=0.0, le=2.0)]


class Space(Strict):
    """Distances that safety keeps. The station's frame is the left base's in the shipped files; z is up."""

    arm_shape: str
    """A file of calibration/arms."""
    left: Base
    right: Base
    box: Box
    table: Plane
    arm_to_arm_m: Length
    """Least distance between the arms, and between a tool and its own base."""
    arm_to_station_m: Length
    """Least distance of an arm to an obstacle."""
    obstacles: Annotated[tuple[Obstacle, ...], Row] = ()

    def base(self, arm: Arm) -> Base:
        """Where that arm stands."""
        return self.left if arm == "left" else self.right
