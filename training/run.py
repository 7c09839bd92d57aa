"""One training run, from one TOML file. Everything that decides its weights is in here."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from contract.errors import ConfigurationError
from contract.toml import read_toml

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=1)]


class Part(BaseModel):
    """Base of the parts: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Optimisation(Part):
    """AdamW with warm-up and a cosine to zero."""

    steps: Count
    batch: Count = 64
    learning_rate: Annotated[float, Field(gt=0.0)] = 1e-3
    betas: tuple[float, float] = (0.9, 0.99)
    weight_decay: Annotated[float, Field(ge=0.0)] = 0.01
    warmup_steps: Annotated[int, Field(ge=0)] = 100
    clip_norm: Annotated[float, Field(gt=0.0)] = 1.0
    ema: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.998
    """Decay of the averaged weights, which are the ones kept; shorter at the start."""


class VideoLoss(Part):
    """Flow matching on the future latents (stage 2, and beside the action loss in stage 3)."""

    pure_noise_share: Share = 0.4
    """Samples at noise level 1, the level at which a policy without passes is tapped; the rest are even in 0..1."""
    null_language: Share = 0.1
    mirror: Share = 0.5
    """Samples seen in the mirror (training.mirror)."""
    even_pairs: bool = False
    """Beside the action loss: draw every pair's video alike, however many demonstrations there are of it."""


class ActionLoss(Part):
    """Flow matching of the action head (stage 3)."""

    adaptation: Literal["full", "lora", "frozen"] = "full"
    """What the action loss trains below the head: stem, instruction encoder and backbone; low-rank additions to the
    backbone's blocks, merged into it in the checkpoint; or nothing."""
    lora_rank: Count = 16
    """Rank of the additions; counts for "lora" only."""
    joint_share: Share = 0.1
    """Share of steps that see all latent frames and also take the video loss; the others see the current frame."""
    joint_batch: Count = 32
    video_weight: Annotated[float, Field(ge=0.0)] = 0.4
    draws: Count = 4
    """(noise, time) pairs per observation."""
    pure_noise_share: Share = 0.4
    """Draws at time 1."""
    state_noise: Annotated[float, Field(ge=0.0)] = 0.05
    """Deviation of noise on the normalised state; the rows stay relative to the true one."""
    prefix_share: Share = 0.5
    """Draws with 1..max_prefix clean rows."""
    mirror: Share = 0.5
    """Samples seen in the mirror (training.mirror)."""
    emphasise_far_moves: bool = False
    """Draw moments before far moves more often (training.stages.emphasis)."""
    look_weight: Annotated[float, Field(ge=0.0)] = 0.0
    """Weight of the loss on where two attention heads look (training.looking); 0 = no such loss."""
    null_language: Share = 0.1
    null_future: Share = 0.1


class Design(Part):
    """Where the model departs from its size; what is not said stays as the size has it. The weights fit either way."""

    sigma: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    """Noise level of the future at the tap."""
    passes: Annotated[int, Field(ge=0)] | None = None
    """Full passes from noise to there; none exactly when sigma is 1."""
    ahead: Literal[4, 8, 12, 16, 20, 24] | None = None
    """Tenths of a second from one latent frame to the next: how far ahead is imagined. Demonstrations have a picture
    every four."""


AS_START = "start"


class Run(Part):
    """A run of one stage."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=48)]
    stage: Literal["latent", "video", "action"]
    data: Annotated[tuple[Path, ...], Field(min_length=1)]
    """Folders of demonstrations."""
    shards: tuple[Annotated[int, Field(ge=1)], ...] = ()
    """Use only the first so many shards of each folder; empty = all."""
    moment_every: Literal[1, 2, 4] = 4
    """Moments of one demonstration that are drawn lie at least so far apart."""
    size: str = "grasper"
    """Name of a size (policy_server/model/presets.py), or "start": that of the checkpoint in `start`."""
    start: str = ""
    """Checkpoint folder whose weights this run starts from; empty = new weights from the seed."""
    adopt: bool = False
    """`start` may be of another size: take over what fits (training.adopt), the rest is new from the seed."""
    fresh_head: bool = False
    """The head is new from the seed, whatever `start` holds."""
    head_start: str = ""
    """Checkpoint folder whose head is taken over as far as it fits, in place of the one of `start`."""
    rotation: Annotated[int, Field(ge=0, le=3)] = 0
    """Which pairs are held out of the action data (robot_client.twin.tasks.held_out)."""
    seed: int = 0
    bf16: bool = True
    optimisation: Optimisation
    video: VideoLoss = VideoLoss()
    action: ActionLoss = ActionLoss()
    design: Design = Design()
    save_every: Count = 500
    log_every: Count = 50

    @model_validator(mode="after")
    def _shards_per_folder(self) -> Run:
        if self.shards and len(self.shards) != len(self.data):
            raise ValueError(f"shards {self.shards}: one number for each of {len(self.data)} data folders")
        return self

    def digest(self) -> str:
        """sha256 of the run: a checkpoint is resumed by the very same run only."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def read_run(path: Path) -> Run:
    """The run of a TOML file. Raises `ConfigurationError` naming the key at fault."""
    try:
        return Run.model_validate(read_toml(path))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"])
        raise ConfigurationError(
            f"{path}: {key}", expected=fault["msg"], got=fault.get("input"), remedy="see training/run.py"
        ) from error
