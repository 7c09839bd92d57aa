"""The `[arms]` section of a station file: which real arms hang on which CAN bus, and what is known of each unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from contract.layout import ARM_SIZE
from contract.server_info import Row, Strict

ArmKind = Literal["yam", "yam_pro", "yam_ultra", "yam_ultra_2", "big_yam"]
GripperKind = Literal["crank_4310", "flexible_4310", "linear_3507", "linear_4310"]
MotorKind = Literal["DM3507", "DM4310", "DM4340", "DM6248"]
Channel = Annotated[str, Field(pattern=r"^[a-z0-9_]*can[a-z0-9_]*$", max_length=15)]
"""Name of a CAN interface. i2rt takes a name without "can" in it for another kind of bus."""

NOMINAL_TRAVEL_RAD: Final[Mapping[str, float]] = {
    "crank_4310": 2.83,
    "flexible_4310": 6.57,
    "linear_3507": 6.57,
    "linear_4310": 6.57,
}
"""Motor travel from closed to open: motor_stroke, or open minus close angle, of i2rt's gripper configurations."""
LEAST_TRAVEL_SHARE: Final = 0.2
"""Limits that span less of the nominal travel were measured with something between the jaws."""


class ArmUnit(Strict):
    """One arm."""

    channel: Channel
    adapter_serial: str = ""
    """Serial number of the USB-CAN adapter, which stays when the kernel deals out names anew; empty = not checked."""
    arm: ArmKind
    gripper: GripperKind
    motor_types: Annotated[tuple[MotorKind, ...], Row, Field(min_length=ARM_SIZE, max_length=ARM_SIZE)]
    """Motors 1 to 7; 7 is the gripper."""
    gripper_limits_rad: Annotated[tuple[float, float], Row]
    """Motor positions [closed, open] of this unit, measured once. A mirrored gripper has open below closed."""

    @model_validator(mode="after")
    def _travel(self) -> ArmUnit:
        closed, opened = self.gripper_limits_rad
        least = LEAST_TRAVEL_SHARE * NOMINAL_TRAVEL_RAD[self.gripper]
        if not abs(opened - closed) >= least:
            raise ValueError(
                f"gripper travel on {self.channel} is {abs(opened - closed):.3f} rad, expected about "
                f"{NOMINAL_TRAVEL_RAD[self.gripper]} and at least {least:.2f}: measure it again with nothing between "
                "the jaws"
            )
        return self


class LeaderUnit(Strict):
    """A leader arm on a CAN bus of its own, for teleoperation."""

    channel: Channel
    adapter_serial: str = ""
    kind: Literal["teaching_handle", "encoders"]
    """A YAM with motors 1 to 6 and an encoder in its handle, or encoders alone and no motor."""


class Leaders(Strict):
    """Leader arms of the station, for one or both arms."""

    left: LeaderUnit | None = None
    right: LeaderUnit | None = None


class Arms(Strict):
    """Both arms and the rules of their holders."""

    bus: Literal["socketcan", "emulated"] = "socketcan"
    """"emulated" puts emulated motors in the place of the buses: a dry run of everything but the arms."""
    left: ArmUnit
    right: ArmUnit
    heartbeat_ms: Annotated[float, Field(ge=20.0, le=200.0, allow_inf_nan=False)] = 100.0
    """A client later than this is taken for stalled: its arm holds. Well below the motors' own 400 ms."""
    rest_tolerance_rad: Annotated[float, Field(gt=0.0, le=0.5, allow_inf_nan=False)] = 0.15
    """How near to the park pose an arm may be let go."""
    warm_c: Annotated[float, Field(ge=30.0, le=100.0)] = 65.0
    """Motor temperature that raises the alarm."""
    hold_alarm_s: Annotated[float, Field(gt=0.0, le=86400.0)] = 600.0
    """A hold longer than this raises the alarm: motors that hold get warm."""
    leaders: Leaders | None = None

    @property
    def units(self) -> dict[str, ArmUnit | LeaderUnit]:
        """Every device with a bus of its own, by the name that messages give it."""
        leaders = {} if self.leaders is None else {"left": self.leaders.left, "right": self.leaders.right}
        return {
            "left arm": self.left,
            "right arm": self.right,
            **{f"{side} leader": unit for side, unit in leaders.items() if unit is not None},
        }

    @model_validator(mode="after")
    def _own_buses(self) -> Arms:
        for what in ("channel", "adapter_serial"):
            owners: dict[str, str] = {}
            for name, unit in self.units.items():
                value = getattr(unit, what)
                if value and value in owners:
                    raise ValueError(f"{owners[value]} and {name} are both on {what} {value}; give each its own")
                owners[value] = name
        return self
