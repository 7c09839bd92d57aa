"""The `[calibration]` section of a station file: what `yam-calibrate` measured, how, when and how well.

Transforms are `parent_from_child`: a position [m] and a rotation vector [rad], taking points of the child's frame to
the parent's. Frames: `left_base`, `right_base`, `left_gripper`, `right_gripper` are bodies of i2rt's model; a camera's
is its optical frame, z along the view, y down.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from contract.errors import ConfigurationError
from contract.layout import JOINTS_PER_ARM
from contract.server_info import Row, Strict

MODEL: Final = "plumb_bob"
"""OpenCV's k1 k2 p1 p2 k3, as sensor_msgs/CameraInfo names it."""
SAME_SHAPE: Final = 0.01
Finite = Annotated[float, Field(allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Three = Annotated[tuple[Finite, Finite, Finite], Row]
Six = Annotated[tuple[Finite, ...], Row, Field(min_length=JOINTS_PER_ARM, max_length=JOINTS_PER_ARM)]
Frame = Literal["left_base", "right_base", "left_gripper", "right_gripper"]


class Lens(Strict):
    """Intrinsics at one resolution. Pixel centres lie at whole numbers, as in OpenCV."""

    width: Annotated[int, Field(ge=16, le=8192)]
    height: Annotated[int, Field(ge=16, le=8192)]
    fx: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
    fy: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
    cx: Finite
    cy: Finite
    distortion: Annotated[tuple[Finite, Finite, Finite, Finite, Finite], Row] = (0.0, 0.0, 0.0, 0.0, 0.0)

    def matrix(self) -> NDArray[np.float64]:
        """K (3, 3)."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    def scaled(self, width: int, height: int) -> Lens:
        """The camera when its driver delivers the same picture smaller or larger.

        Raises `ConfigurationError` for another shape: then the sensor is cropped, and only the driver knows where.
        """
        across, down = width / self.width, height / self.height
        if abs(across / down - 1.0) > SAME_SHAPE:
            raise ConfigurationError(
                "camera resolution",
                expected=f"the shape of {self.width} x {self.height}, at which it was calibrated",
                got=f"{width} x {height}",
                remedy="set the camera to that shape, or calibrate at this one",
            )
        # Centres of pixels scale about the picture's outer corner, half a pixel before the first centre.
        middle = {"cx": (self.cx + 0.5) * across - 0.5, "cy": (self.cy + 0.5) * down - 0.5}
        return self.model_copy(
            update={"width": width, "height": height, "fx": self.fx * across, "fy": self.fy * down, **middle}
        )


class Measured(Strict):
    """How a number came to be."""

    method: Annotated[str, Field(min_length=1, max_length=200)]
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]


class Intrinsics(Lens, Measured):
    """One camera's lens."""

    views: Annotated[int, Field(ge=1)]
    rms_px: NotNegative
    held_out_px: NotNegative
    """Of views that took no part."""
    covered: Share
    """Of the picture that the board was in."""


class Mount(Measured):
    """Where a camera sits: `parent_from_camera`; or where the right base stands."""

    parent: Frame
    position_m: Three
    rotation_rad: Three
    poses: Annotated[int, Field(ge=1)]
    held_out_mm: NotNegative
    held_out_deg: NotNegative


class Table(Measured):
    """The plane that the board lay in: points p of the left base's frame with normal . p = offset_m, normal up."""

    normal: Three
    offset_m: Finite
    held_out_mm: NotNegative
    """Of the camera that saw it."""


class Latency(Measured):
    """One delay."""

    latency_ms: NotNegative
    uncertainty_ms: NotNegative
    """Half the 95 % interval, from halves of the record measured by themselves."""
    correlation: Share
    """Of the two signals at the best shift; 1 is alike."""


class Latencies(Strict):
    """By camera role, and by arm."""

    cameras: dict[str, Latency] = Field(default_factory=dict)
    """Exposure to stamp."""
    arms: dict[Literal["left", "right"], Latency] = Field(default_factory=dict)
    """Command to motion, with the motion's own lag and the joint state's way back in it."""
    grippers: dict[Literal["left", "right"], Latency] = Field(default_factory=dict)
    joints: dict[Literal["left", "right"], Latency] = Field(default_factory=dict)
    """Stamp of a joint reading to when it can be read."""


class ArmCheck(Measured):
    """One arm against its model."""

    zero_rad: Six
    """Measured less told at the park pose: finds a lost turn. `zeros` has what the motors' zeros are off by."""
    directions: Annotated[tuple[Literal[-1, 1], ...], Row, Field(min_length=6, max_length=6)]
    gripper_closed_open_rad: Annotated[tuple[Finite, Finite], Row] | None = None
    """Motor positions at the stops, where they can be read."""
    gripper_travel: Share
    """Of the range 0..1 that the jaws really moved through."""


class JointZero(Strict):
    """One joint's zero."""

    offset_rad: Finite
    """Measured less true."""
    uncertainty_rad: NotNegative
    """One standard deviation."""
    against: Annotated[str, Field(min_length=1, max_length=100)]
    """What it was seen against."""


class ArmZeros(Measured):
    """Zeros of one arm against the model, as cameras see them. A joint that was not seen is not there."""

    joints: dict[Literal["joint1", "joint2", "joint3", "joint4", "joint5", "joint6"], JointZero]


class BoardUsed(Strict):
    """The board that pictures were taken of, as calibration/board.py has it."""

    columns: int
    rows: int
    square_m: float
    marker_m: float
    dictionary: str
    layout: str


class Calibration(Strict):
    """The whole section."""

    format: Literal[1]
    board: BoardUsed | None = None
    intrinsics: dict[str, Intrinsics] = Field(default_factory=dict)
    mounts: dict[str, Mount] = Field(default_factory=dict)
    right_base: Mount | None = None
    """`left_base_from_right_base`."""
    table: Table | None = None
    latencies: Latencies = Latencies()
    arms: dict[Literal["left", "right"], ArmCheck] = Field(default_factory=dict)
    zeros: dict[Literal["left", "right"], ArmZeros] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self) -> Calibration:
        if self.right_base is not None and self.right_base.parent != "left_base":
            raise ValueError(f'right_base.parent must be "left_base", not "{self.right_base.parent}"')
        return self

    def roles(self) -> set[str]:
        """Of all cameras that are mentioned."""
        return {*self.intrinsics, *self.mounts, *self.latencies.cameras}
