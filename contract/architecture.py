"""What a policy sees and what it is made of: canvas, video backbone, text, head. Parts of `policy.toml`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from contract.server_info import CameraSpec, Row, Strict

Positive = Annotated[int, Field(ge=1)]


class View(Strict):
    """The rectangle of one camera on the canvas, in pixels; the view has the rectangle's size."""

    role: Annotated[str, Field(min_length=1, max_length=64)]
    top: Annotated[int, Field(ge=0)]
    left: Annotated[int, Field(ge=0)]
    height: Positive
    width: Positive
    optional: bool = False
    rectified: bool = False
    """Trained on pictures without the lens's distortion."""


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
        return tuple(
            CameraSpec(role=v.role, height=v.height, width=v.width, optional=v.optional, rectified=v.rectified)
            for v in self.views
        )


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
    reaches: Literal["future"] | None = None
    """future: only the imagined later frames hear the instruction; absent: every frame and the head do."""


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
