"""One station: arms, limits, cameras, poses. Pydantic over calibration/stations/NAME.toml."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from contract.arms import Arms
from contract.calibration import Calibration
from contract.errors import StationError
from contract.layout import ARMS, JOINTS_PER_ARM, pack
from contract.server_info import Row, Strict
from contract.space import Space
from contract.teleop import Teleop
from contract.toml import read_toml
from contract.watchdogs import Watchdogs

STATIONS: Path = Path(__file__).resolve().parent.parent / "calibration" / "stations"

Six = Annotated[tuple[float, ...], Row, Field(min_length=JOINTS_PER_ARM, max_length=JOINTS_PER_ARM)]
PositiveFloat = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class Pose(Strict):
    """One named pose of both arms."""

    left_rad: Six
    left_gripper: Annotated[float, Field(ge=0.0, le=1.0)]
    right_rad: Six
    right_gripper: Annotated[float, Field(ge=0.0, le=1.0)]

    def vector(self) -> NDArray:
        """(14,) float64 in the contract's layout."""
        return pack(self.left_rad, self.left_gripper, self.right_rad, self.right_gripper)


class ArmLimits(Strict):
    """Limits of one arm; the same numbers serve both unless given per arm."""

    lower_rad: Six
    upper_rad: Six
    speed_rad_s: Six
    acceleration_rad_s2: Six
    gripper_speed_1_s: PositiveFloat
    gripper_acceleration_1_s2: PositiveFloat
    jerk_rad_s3: Six | None = None
    """Largest change of acceleration; none = not limited."""

    @model_validator(mode="after")
    def _ordered(self) -> ArmLimits:
        for i in range(JOINTS_PER_ARM):
            if not self.lower_rad[i] < self.upper_rad[i]:
                raise ValueError(f"joint{i + 1}: lower {self.lower_rad[i]} is not below upper {self.upper_rad[i]}")
            if not (0 < self.speed_rad_s[i] < np.inf and 0 < self.acceleration_rad_s2[i] < np.inf):
                raise ValueError(f"joint{i + 1}: speed and acceleration must be positive and finite")
            if self.jerk_rad_s3 is not None and not 0 < self.jerk_rad_s3[i] < np.inf:
                raise ValueError(f"joint{i + 1}: jerk must be positive and finite; leave the line out for no limit")
        return self


class Safety(Strict):
    """Limits of the motion that safety lets pass."""

    left: ArmLimits
    right: ArmLimits
    lead_rad: PositiveFloat
    """How far told may be ahead of measured."""
    lead_gripper: PositiveFloat
    tool_speed_m_s: PositiveFloat = 0.25
    space: Space | None = None
    """Workspace, table, distances. Real arms must have it."""

    def vectors(self, joint_field: str, gripper_value: float) -> NDArray:
        """(14,) of one per-joint field, with one value for both grippers."""
        left, right = (getattr(getattr(self, arm), joint_field) for arm in ARMS)
        return pack(left, gripper_value, right, gripper_value)


class Camera(Strict):
    """One camera of the station."""

    role: Annotated[str, Field(min_length=1, max_length=64)]
    device: str
    """"twin:NAME", "v4l2:/dev/v4l/by-id/...", "realsense:SERIAL", "topic:/name", or made up: "file:VIDEO",
    "pattern:NAME"."""
    serial: str = ""
    """Serial number of a v4l2 device, so that exchanged cameras are noticed; empty = not checked."""
    height: Annotated[int, Field(ge=1, le=4096)]
    width: Annotated[int, Field(ge=1, le=4096)]
    rate_hz: PositiveFloat
    latency_ms: Annotated[float, Field(ge=0.0)] = 0.0
    """Exposure to arrival, for images whose own stamp cannot be used; a calibrated latency takes its place."""


class Timing(Strict):
    """Rates and patience."""

    loop_hz: Annotated[float, Field(ge=10.0, le=1000.0)]
    grace_ms: Annotated[float, Field(gt=0.0, le=5000.0)]
    """Longest time from the last valid row to HOLD."""
    joints_max_age_ms: Annotated[float, Field(gt=0.0, le=1000.0)]
    camera_max_age_ms: Annotated[float, Field(gt=0.0, le=5000.0)]
    answer_budget_ms: Annotated[float, Field(gt=0.0, le=60000.0)]
    replan_rows: Annotated[int, Field(ge=1)]
    """Rows between two replans."""
    lead_by_latency: bool = False
    """Tell the arms each row earlier by their calibrated latency. Only for policies whose actions are where arms were
    measured; where actions are what arms were told, the latency is in the data already."""


class Poses(Strict):
    """Named poses."""

    home: Pose
    park: Pose


class Station(Strict):
    """The whole station file."""

    format: Literal[1]
    name: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[a-z0-9_]+$")]
    rig: Literal["sim", "ideal", "yam"]
    safety: Safety
    cameras: Annotated[tuple[Camera, ...], Row]
    timing: Timing
    poses: Poses
    arms: Arms | None = None
    """Only, and always, for real arms."""
    teleop: Teleop = Teleop()
    watchdogs: Watchdogs = Watchdogs()
    calibration: Calibration | None = None
    """Written by `yam-calibrate`."""

    @model_validator(mode="after")
    def _consistent(self) -> Station:
        if (self.rig == "yam") != (self.arms is not None):
            raise ValueError(f'rig "{self.rig}" {"needs a" if self.rig == "yam" else "has no"} section [arms]')
        if self.rig == "yam" and self.safety.space is None:
            raise ValueError("real arms need a section [safety.space]: where they stand and what is around them")
        for field in ("role", "device"):
            values = [getattr(camera, field) for camera in self.cameras]
            if len(set(values)) != len(values):
                raise ValueError(f"two cameras share a {field}: {values}")
        if not self.watchdogs.tracking_rad < self.safety.lead_rad:
            raise ValueError(
                f"watchdogs.tracking_rad {self.watchdogs.tracking_rad} would never be reached: told leads by at most "
                f"safety.lead_rad {self.safety.lead_rad}"
            )
        unknown = set(self.watchdogs.cameras_ms) - {camera.role for camera in self.cameras}
        if unknown:
            raise ValueError(f"watchdogs.cameras_ms of {sorted(unknown)}: no such camera role")
        unknown = (self.calibration.roles() if self.calibration else set()) - {camera.role for camera in self.cameras}
        if unknown:
            raise ValueError(f"calibration of {sorted(unknown)}: no such camera role")
        for name in ("home", "park"):
            pose = getattr(self.poses, name).vector()
            lower = self.safety.vectors("lower_rad", 0.0)
            upper = self.safety.vectors("upper_rad", 1.0)
            if (pose < lower).any() or (pose > upper).any():
                raise ValueError(f"pose {name} is outside the limits")
        return self

    def sha256(self) -> str:
        """Identity of everything in the file, the calibration too; comments do not count."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def lead_ms(self) -> float:
        """How much earlier than a row's time the arms are told it: the lesser of their calibrated latencies, or 0."""
        measured = self.calibration.latencies.arms.values() if self.calibration else ()
        return min((one.latency_ms for one in measured), default=0.0) if self.timing.lead_by_latency else 0.0

    def with_latencies(self) -> Station:
        """The station with each calibrated camera's latency where its readers look for it."""
        measured = self.calibration.latencies.cameras if self.calibration else {}
        cameras = tuple(
            c.model_copy(update={"latency_ms": measured[c.role].latency_ms}) if c.role in measured else c
            for c in self.cameras
        )
        return self.model_copy(update={"cameras": cameras})


def load_station(name_or_path: str) -> Station:
    """A shipped station by name or a file by path. Raises `StationError` naming the key at fault or the known names."""
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = STATIONS / f"{name_or_path}.toml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in STATIONS.glob("*.toml"))) or "none"
        raise StationError(
            "station", expected=f"one of {known}, or a .toml file", got=name_or_path, remedy="check the name"
        )
    try:
        return Station.model_validate(read_toml(path)).with_latencies()
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"]) or "station"
        raise StationError(
            f"{path.name}: {key}", expected=fault["msg"], got=repr(fault.get("input"))[:100], remedy="edit the file"
        ) from error
