"""`policy.toml`: the checked description of a policy bundle, written by export and read by the server."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from contract.architecture import Canvas, Head, Positive, Text, Video
from contract.layout import CHANNELS, SIZE
from contract.server_info import Row, Strict
from contract.types import GuidanceMode

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Scale = Annotated[float, Field(ge=0.0, le=100.0)]
Values = Annotated[tuple[float, ...], Row, Field(min_length=SIZE, max_length=SIZE)]
ActionKind = Literal["absolute", "delta", "velocity"]
Null = Literal["language", "future"]


class Statistics(Strict):
    """normalised = (value - offset) / scale: mean and deviation, or centre and half range of quantiles."""

    kind: ActionKind
    """What the numbers were computed over."""
    offset: Values
    scale: Values

    @model_validator(mode="after")
    def _scale_is_usable(self) -> Statistics:
        for name, scale in zip(CHANNELS, self.scale, strict=True):
            if not scale > 1e-6:
                raise ValueError(f"scale of {name} is {scale}; a constant channel needs scale 1")
        return self


class Action(Strict):
    """What the head's raw output means, per channel, and the statistics it was trained with."""

    kinds: Annotated[tuple[ActionKind, ...], Row, Field(min_length=SIZE, max_length=SIZE)]
    statistics: Annotated[tuple[Statistics, ...], Row, Field(min_length=1)]
    """One entry per kind used; a channel is de-normalised by the entry of its kind."""
    gripper_closed_value: Literal[0, 1] = 0
    """1 when the policy was trained with 1 = closed; flipped once on state and action."""

    @model_validator(mode="after")
    def _every_kind_has_statistics(self) -> Action:
        have = [entry.kind for entry in self.statistics]
        if len(set(have)) != len(have):
            raise ValueError(f"statistics given twice for one kind: {have}")
        if set(self.kinds) != set(have):
            raise ValueError(f"channels are {sorted(set(self.kinds))} but statistics are of {sorted(have)}")
        return self


class Guidance(Strict):
    """Defaults of TR-adaptive guidance: w(TR) = w_max * smoothstep((rank - q_lo) / (q_hi - q_lo))."""

    mode: GuidanceMode = "adaptive"
    w_lang_max: Scale = 0.0
    w_plan_max: Scale = 0.0
    q_lo: Fraction = 0.3
    q_hi: Fraction = 0.9
    trained_nulls: Annotated[tuple[Null, ...], Row] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Guidance:
        if not self.q_lo < self.q_hi:
            raise ValueError(f"q_lo {self.q_lo} is not below q_hi {self.q_hi}")
        for null, scale in (("language", self.w_lang_max), ("future", self.w_plan_max)):
            if scale > 0 and null not in self.trained_nulls:
                raise ValueError(f"guidance on {null} needs a trained null; trained are {list(self.trained_nulls)}")
        return self


class TrCalibration(Strict):
    """TR of unguided in-distribution replans; `quantiles` at equal steps from 0 to 1."""

    quantiles: Annotated[tuple[float, ...], Row, Field(min_length=2)]
    replans: Positive
    sigma: float
    horizon: Positive
    engine_id: str
    source: str
    phases: dict[str, Annotated[tuple[float, ...], Row, Field(min_length=2)]] = Field(default_factory=dict)
    """The same per phase of the task, where the replans were labelled. For people; guidance uses `quantiles`."""

    @model_validator(mode="after")
    def _rising(self) -> TrCalibration:
        for row in (self.quantiles, *self.phases.values()):
            if any(b < a for a, b in pairwise(row)):
                raise ValueError("quantiles must not fall")
        return self


class Provenance(Strict):
    """How the weights came to be."""

    command: str
    seed: int
    data: str = ""
    adapters: Annotated[tuple[str, ...], Row] = ()
    """LoRA adapters merged into the weights, "NAME@SHA256[:12]"."""
    scores: dict[str, float] = Field(default_factory=dict)


class BundleManifest(Strict):
    """The whole of `policy.toml`."""

    format: Literal[1]
    model_id: Annotated[str, Field(min_length=1, max_length=64)]
    trained: bool
    precision: Literal["fp32", "fp16", "bf16"]
    canvas: Canvas
    video: Video
    text: Text
    head: Head
    state: Statistics
    action: Action
    guidance: Guidance
    provenance: Provenance
    tr_calibration: TrCalibration | None = None
    files: Annotated[dict[str, str], Field(min_length=1)]
    """File name -> sha256 in hex, for every file of the bundle but policy.toml."""
    weights_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """sha256 over the sorted lines "sha256  name" of `files`."""

    @model_validator(mode="after")
    def _calibration_fits(self) -> BundleManifest:
        calibration = self.tr_calibration
        if calibration and (calibration.sigma, calibration.horizon) != (self.video.sigma, self.head.horizon):
            raise ValueError(
                f"TR was calibrated at sigma {calibration.sigma}, horizon {calibration.horizon}; the policy has "
                f"{self.video.sigma}, {self.head.horizon}: calibrate again"
            )
        return self
