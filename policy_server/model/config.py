"""Every size of a video-action model, as one value that travels in the checkpoint folder."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from contract.architecture import Canvas
from contract.layout import SIZE

Count = Annotated[int, Field(ge=1)]


MOST_STEPS = 25
"""Flow steps that the heads' data prediction is good for (policy_server.model.flow.LEAST_NOISE)."""


class Part(BaseModel):
    """Base of the parts: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LatentConfig(Part):
    """Canvas to latent and back."""

    kind: Literal["conv", "blocks", "wan"]
    channels: Count
    """Latent channels C."""
    block_channels: Annotated[int, Field(ge=0)] = 0
    """blocks: how many of C are principal components; the others are learned and of the current frame only."""
    frames: Count = 5
    """Latent frames T: the current one and T - 1 future ones."""
    spatial: Count = 8
    """Pixels per latent cell along each axis; 8 in Cosmos."""
    temporal: Count = 4
    """Video frames per future latent frame; 4 in Cosmos (17 frames = 1 + 4 * 4)."""
    frame_rate_hz: float = 10.0
    """Video frames per second (PAPER.md)."""
    width: Count = 32
    """conv, blocks: channels of the first layer. wan: `base_dim` of AutoencoderKLWan."""
    vae: dict[str, object] = {}
    """wan: further AutoencoderKLWan arguments, for small test models."""


class TextConfig(Part):
    """Instruction to text tokens."""

    kind: Literal["words", "cached"]
    width: Count
    """Width Dt of a text token, as the backbone's cross-attention takes it."""
    length: Count
    """Text tokens L. words: the longest instruction in words. cached: tokens stored per sentence."""
    vocabulary: tuple[str, ...] = ()
    """words: known words. cached: known sentences."""
    heads: Count = 2
    reaches: Literal["everything", "future"] = "everything"
    """Who hears the instruction. everything: every latent frame and the head. future: the later latent frames alone, so
    what is to be done reaches the head through the imagined future or not at all."""


class BackboneConfig(Part):
    """Sizes of diffusers' CosmosTransformer3DModel, and where and at which noise level features are tapped."""

    layers: Count
    heads: Count
    head_dim: Count
    patch: tuple[int, int, int] = (1, 2, 2)
    mlp_ratio: float = 4.0
    adaln_lora_dim: Count = 256
    rope_scale: tuple[float, float, float] = (1.0, 3.0, 3.0)
    extra_pos_embed: Literal["learnable", "none"] = "none"
    current_only_channels: Annotated[int, Field(ge=0)] = 0
    """The last so many latent channels exist for the current frame only; in later frames they are hidden."""
    attention: Literal["bidirectional", "frame_causal"] = "bidirectional"
    """Cosmos is bidirectional; frame_causal never lets a latent frame attend to a later one."""
    kernel: Literal["matmul", "fused"] = "matmul"
    """matmul = matmul-softmax-matmul, faster on CPUs both ways; fused = torch's scaled_dot_product_attention."""
    tap_block: Annotated[int, Field(ge=0)]
    """Features are the hidden states after this block, counted from 0."""
    sigma: Annotated[float, Field(gt=0.0, le=1.0)]
    """Noise level of the future at the tap."""
    passes: Annotated[int, Field(ge=0)]
    """N full passes from noise level 1 to sigma; 0 means sigma = 1."""
    conditional_timestep: float = 1e-4
    """Time of the anchored frame: `conditional_frame_timestep` of Cosmos2_5_PredictBasePipeline."""

    @property
    def width(self) -> int:
        return self.heads * self.head_dim

    @model_validator(mode="after")
    def _consistent(self) -> BackboneConfig:
        if self.patch[0] != 1:
            raise ValueError("patch: time must not be patched, each latent frame has its own timestep")
        if self.tap_block >= self.layers:
            raise ValueError(f"tap_block {self.tap_block}: the backbone has blocks 0..{self.layers - 1}")
        if (self.passes == 0) != (self.sigma == 1.0):
            raise ValueError(f"passes {self.passes}, sigma {self.sigma}: no passes means sigma = 1, and only then")
        return self


class HeadConfig(Part):
    """Sizes of the action head."""

    kind: Literal["flow_transformer", "read_once"]
    horizon: Count = 16
    """Rows H that the head generates, prefix included."""
    max_prefix: Annotated[int, Field(ge=0)] = 8
    step_ms: Count = 100
    flow_steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = 5
    width: Count = 128
    """Width of action tokens (flow_transformer) or of the flow MLP (read_once)."""
    layers: Count = 2
    """Transformer layers (flow_transformer) or residual blocks (read_once)."""
    heads: Count = 4
    head_dim: Count = 32
    """Per head: width of keys and values; read_once: of its attended values."""
    mlp_ratio: float = 4.0
    time_width: Count = 64
    kernel: Literal["matmul", "fused"] = "matmul"
    """flow_transformer: as in the backbone; fused widens keys and values to a kernel's size (padded_heads)."""
    actions: Annotated[int, Field(ge=SIZE, le=SIZE)] = SIZE
    """Values of one row: contract.layout."""

    @model_validator(mode="after")
    def _prefix_leaves_rows(self) -> HeadConfig:
        if self.max_prefix >= self.horizon:
            raise ValueError(f"max_prefix {self.max_prefix} leaves no free row of horizon {self.horizon}")
        return self


class ModelConfig(Part):
    """A whole video-action model."""

    name: str
    canvas: Canvas
    latent: LatentConfig
    text: TextConfig
    backbone: BackboneConfig
    head: HeadConfig

    @property
    def latent_size(self) -> tuple[int, int]:
        """Latent height and width (h, w)."""
        return self.canvas.height // self.latent.spatial, self.canvas.width // self.latent.spatial

    @property
    def token_grid(self) -> tuple[int, int, int]:
        """Tokens along (frame, row, column) after patching; tokens are frame-major."""
        height, width = self.latent_size
        return self.latent.frames, height // self.backbone.patch[1], width // self.backbone.patch[2]

    @model_validator(mode="after")
    def _channels_agree(self) -> ModelConfig:
        learned = self.latent.channels - self.latent.block_channels if self.latent.kind == "blocks" else 0
        if learned < 0 or self.backbone.current_only_channels != learned:
            raise ValueError(
                f"backbone.current_only_channels {self.backbone.current_only_channels}: the latent has {learned}"
            )
        return self

    @model_validator(mode="after")
    def _future_alone_hears(self) -> ModelConfig:
        if self.text.reaches == "future" and self.backbone.attention != "frame_causal":
            raise ValueError(
                "text.reaches future: needs backbone.attention frame_causal, else the current frame hears it"
            )
        if self.text.reaches == "future" and self.head.kind != "read_once":
            raise ValueError("text.reaches future: needs head.kind read_once")
        return self

    @model_validator(mode="after")
    def _divides(self) -> ModelConfig:
        for name, pixels, patch in (
            ("height", self.canvas.height, self.backbone.patch[1]),
            ("width", self.canvas.width, self.backbone.patch[2]),
        ):
            if pixels % (self.latent.spatial * patch):
                raise ValueError(f"canvas {name} {pixels}: must divide by {self.latent.spatial} x patch {patch}")
        return self
