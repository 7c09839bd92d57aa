"""`policy.toml`: the checked description of a policy bundle, written by export and read by the server."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from contract.layout import CHANNELS, SIZE
from contract.server_info import CameraSpec, Row, Strict
from contract.types import GuidanceMode

Positive = Annotated[int, Field(ge=1)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Scale = Annotated[float, Field(ge=0.0, le=100.0)]
Values = Annotated[tuple[float, ...], Row, Field(min_length=SIZE, max_length=SIZE)]
ActionKind = Literal["absolute", "delta", "velocity"]
Null = Literal["language", "future"]


class View(Strict):
    """The rectangle of one camera on the canvas, in pixels; the view has the rectangle's size."""

    role: Annotated[str, Field(min_length=1, max_length=64)]
    top: Annotated[int, Field(ge=0)]
    left: Annotated[int, Field(ge=0)]
    height: Positive
    width: Positive
    optional: bool = False


class Canvas(Strict):
    """All cameras side by side on one picture; what no view covers is black."""

    height: Positive
    width: Positive
    views: Annotated[tuple[View, ...], Row, Field(min_length=1)]

    @model_validator(mode="after")
    def _views_fit(self) -> Canvas:
        roles = [view.role for view in self.views]
        if len(set(roles)) != len(roles):
            raise ValueError(f"a camera role is used twice: {roles}")
        for view in self.views:
            if view.top + view.height > self.height or view.left + view.width > self.width:
                raise ValueError(f"view {view.role} leaves the canvas of {self.height} x {self.width}")
        for i, a in enumerate(self.views):
            for b in self.views[i + 1 :]:
                apart_y = a.top + a.height <= b.top or b.top + b.height <= a.top
                if not apart_y and a.left < b.left + b.width and b.left < a.left + a.width:
                    raise ValueError(f"views {a.role} and {b.role} overlap")
        return self

    def cameras(self) -> tuple[CameraSpec, ...]:
        """What a client must send."""
        return tuple(CameraSpec(role=v.role, height=v.height, width=v.width, optional=v.optional) for v in self.views)


class Video(Strict):
    """The video backbone and how its features are taken (PAPER.md, "Features, exactly")."""

    architecture: Literal["cosmos"] = "cosmos"
    attention: Literal["bidirectional", "frame_causal"]
    latent_channels: Positive
    latent_frames: Annotated[int, Field(ge=2)]
    """1 current + the future ones."""
    latent_height: Positive
    latent_width: Positive
    patch_height: Positive
    patch_width: Positive
    blocks: Positive
    tap_block: Annotated[int, Field(ge=0)]
    """Features are the hidden state after this block, counted from 0."""
    sigma: Annotated[float, Field(gt=0.0, le=1.0)]
    """Noise level of the tapped pass."""
    passes: Annotated[int, Field(ge=0, le=100)]
    """Full passes from sigma = 1 down to `sigma`; 0 taps pure noise, sigma is then 1."""
    imagine_passes: Annotated[int, Field(ge=1, le=200)]
    """Full passes from sigma = 1 to 0 when a person asks to see the future."""
    conditional_timestep: Annotated[float, Field(ge=0.0, le=1.0)] = 1e-4
    pixel_frames: Positive = 17
    frame_step_ns: Positive = 100_000_000
    feature_source: Literal["generated", "noised_true", "untrained"]
    """What futures the head was trained on."""

    @model_validator(mode="after")
    def _consistent(self) -> Video:
        if self.tap_block >= self.blocks:
            raise ValueError(f"tap_block {self.tap_block} is not one of {self.blocks} blocks")
        if self.passes == 0 and self.sigma != 1.0:
            raise ValueError(f"passes = 0 means sigma = 1, not {self.sigma}")
        if self.passes > 0 and self.sigma == 1.0:
            raise ValueError("passes > 0 needs sigma below 1")
        return self

    @property
    def tokens_per_frame(self) -> int:
        """|C|: tokens of one latent frame."""
        return (self.latent_height // self.patch_height) * (self.latent_width // self.patch_width)

    @property
    def future_tokens(self) -> int:
        """|F|: tokens of all later latent frames."""
        return self.tokens_per_frame * (self.latent_frames - 1)


class Text(Strict):
    """How an instruction becomes tokens; word 0 is padding and the null instruction."""

    kind: Literal["words", "cached"]
    max_words: Positive
    vocabulary: Annotated[tuple[str, ...], Row] = ()
    """Word i has token i + 1; for kind "cached" the full instructions with a stored embedding."""


class Head(Strict):
    """The action head."""

    kind: Literal["flow_transformer", "read_once"]
    masses_from: Literal["action_step", "context"]
    """Where attention masses come from; "context" means TR is known before the first flow step."""
    layers: Positive
    heads: Positive
    horizon: Positive
    step_ns: Positive
    max_prefix: Annotated[int, Field(ge=0)]
    flow_steps: Positive

    @model_validator(mode="after")
    def _prefix_leaves_rows(self) -> Head:
        if self.max_prefix >= self.horizon:
            raise ValueError(f"max_prefix {self.max_prefix} leaves no free row of {self.horizon}")
        return self


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

    @model_validator(mode="after")
    def _rising(self) -> TrCalibration:
        if any(b < a for a, b in zip(self.quantiles, self.quantiles[1:], strict=False)):
            raise ValueError("quantiles must not fall")
        return self


class Provenance(Strict):
    """How the weights came to be."""

    command: str
    seed: int
    data: str = ""
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
