"""The anchored frame, the passes and the tap as torch functions: what serving does, for training and tests."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from policy_server.model.backbone import CosmosBackbone
from policy_server.model.flow import schedule


def anchor(latents: Tensor, current: Tensor) -> Tensor:
    """Latents (B, C, T, h, w) with frame 0 written back clean; current (B, C, 1, h, w)."""
    return torch.cat([current, latents[:, :, 1:]], dim=2)


def frame_times(latents: Tensor, level: Tensor | float, conditional: float) -> Tensor:
    """(B, T) times: the conditional timestep for frame 0, the noise level (number or (B,)) for later frames."""
    batch, frames = latents.shape[0], latents.shape[2]
    levels = torch.as_tensor(level, dtype=latents.dtype, device=latents.device).reshape(-1, 1).expand(batch, frames)
    return torch.cat([torch.full_like(levels[:, :1], conditional), levels[:, 1:]], dim=1)


def denoise(backbone: CosmosBackbone, current: Tensor, noise: Tensor, text: Tensor, passes: int, end: float) -> Tensor:
    """Latents (B, C, T, h, w) at noise level `end` after that many Euler passes from noise (B, C, T - 1, h, w)."""
    latents = torch.cat([current, noise], dim=2)
    levels = schedule(passes, end) if passes else []
    for level, following in pairwise(levels):
        latents = anchor(latents, current)
        times = frame_times(latents, level, backbone.config.conditional_timestep)
        latents = latents - (level - following) * backbone.velocity(latents, times, text)
    return anchor(latents, current)


def tap(backbone: CosmosBackbone, current: Tensor, noise: Tensor, text: Tensor) -> Tensor:
    """Features (B, N, D): N passes to sigma, then one pass cut off after the tapped block."""
    config = backbone.config
    latents = denoise(backbone, current, noise, text, config.passes, config.sigma)
    return backbone.features(latents, frame_times(latents, config.sigma, config.conditional_timestep), text)
