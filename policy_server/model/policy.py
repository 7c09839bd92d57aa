"""The whole video-action model: encoders, backbone and head under one roof, so one file of weights holds them."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from policy_server.model.backbone import CosmosBackbone
from policy_server.model.config import ModelConfig
from policy_server.model.flow import schedule
from policy_server.model.head import build_head
from policy_server.model.instruction import build_instruction_encoder
from policy_server.model.latent import build_latent_encoder


class VideoActionModel(nn.Module):
    """Holds the parts; training and the graphs call them one by one."""

    def __init__(self, config: ModelConfig, with_masses: bool = True) -> None:
        super().__init__()
        self.config = config
        self.latent = build_latent_encoder(config.latent)
        self.instruction = build_instruction_encoder(config.text)
        deaf_frames = 1 if config.text.reaches == "future" else 0
        self.backbone = CosmosBackbone(
            config.backbone, config.latent.channels, config.text.width, config.token_grid, deaf_frames
        )
        self.head = build_head(config, with_masses)


def build(config: ModelConfig, seed: int) -> VideoActionModel:
    """A model with weights from a fixed seed; the caller's random state is left alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = VideoActionModel(config)
        _random_places(model)
    return model.eval()


@torch.no_grad()
def _random_places(model: VideoActionModel) -> None:
    """Cosmos' learnable places start at zero, where their normalisation is 0 / 0-like; give them a direction."""
    places = model.backbone.dit.learnable_pos_embed
    if places is not None:
        for table in places.parameters():
            nn.init.normal_(table, std=0.5)


def sample_chunk(
    model: VideoActionModel, context: tuple[Tensor, ...], noise: Tensor, prefix: Tensor, steps: int
) -> Tensor:
    """Rows (B, H, 14) after `steps` Euler steps from noise (B, H, 14).

    `context` is what `head.context` returned; the normalised prefix (B, P, 14) is written clean, at time 0, before each
    step.
    """
    named = dict(zip(model.head.context_outputs, context, strict=True))
    memory = [named[name] for name in model.head.step_inputs]
    given = prefix.shape[1]
    levels = schedule(steps)
    rows = noise
    for level, following in pairwise(levels):
        rows = torch.cat([prefix, rows[:, given:]], 1)
        times = torch.full(rows.shape[:2], level, dtype=rows.dtype, device=rows.device)
        times[:, :given] = 0.0
        rows = rows - (level - following) * model.head.action_step(rows, times, *memory)[0]
    return torch.cat([prefix, rows[:, given:]], 1)
