"""What a server says of itself in the first exchange, and what a client must agree with before any arm is enabled."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

ServerState = Literal["LOADING", "READY", "FAULT"]
CalibrationState = Literal["CALIBRATED", "UNCALIBRATED"]


class Strict(BaseModel):
    """Base of what a human or the network writes: unknown keys are errors, values are not coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Row = Field(strict=False)
"""Marks tuples: on the wire and in TOML they are lists."""


class CameraSpec(Strict):
    """One camera view the policy was trained on."""

    role: Annotated[str, Field(min_length=1, max_length=64)]
    height: Annotated[int, Field(ge=1, le=4096)]
    width: Annotated[int, Field(ge=1, le=4096)]
    optional: bool = False
    """A missing optional view is masked out; a missing required one is refused."""
    rectified: bool = False
    """Trained on pictures without the lens's distortion: the client undistorts them, or is refused."""

    @model_serializer(mode="wrap")
    def _written(self, values: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """`rectified` only where it is so: a peer that does not know the word reads all other policies as before, and
        refuses the one that it would feed with the wrong pictures."""
        written = dict(values(self))
        if not self.rectified:
            written.pop("rectified", None)
        return written


WRITTEN_WHEN_SO: Final = frozenset({"rectified"})
"""Fields of a camera that came later and are absent where they say nothing new: not part of the contract's hash."""


class ServerInfo(Strict):
    """Identity, needs and state of a policy server."""

    protocol: int
    contract_hash: str
    model_id: str
    trained: bool
    weights_hash: str
    engine_id: str
    runs_on: str
    """The device and library that really compute."""
    cameras: Annotated[tuple[CameraSpec, ...], Row]
    layout: Annotated[tuple[str, ...], Row]
    """Channel names of joints and rows, in order."""
    action_kinds: Annotated[tuple[str, ...], Row]
    """Per channel, what the policy's raw output means; rows on the wire are absolute whatever it is."""
    horizon: Annotated[int, Field(ge=1, le=1024)]
    step_ns: Annotated[int, Field(ge=1_000_000, le=10_000_000_000)]
    max_prefix: Annotated[int, Field(ge=0, le=1024)]
    vocabulary: Annotated[tuple[str, ...], Row]
    """Words the policy knows; empty = any text."""
    calibration: CalibrationState
    guidance: str
    """Default guidance mode."""
    costs_ns: dict[str, int]
    """Measured at warm-up: answer time with 1, 2 and 3 branches, keys "branches_1" .. "branches_3"."""
    state: ServerState
