"""The two losses, in the conventions of policy_server.model.flow.

x_s = (1 - s) data + s noise, velocity = noise - data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from policy_server.model.backbone import CosmosBackbone
from policy_server.model.config import ModelConfig
from policy_server.model.flow import LEAST_NOISE, mix
from policy_server.model.head import ActionHead
from policy_server.model.video import anchor, frame_times
from training.run import ActionLoss


@dataclass(frozen=True, slots=True, eq=False)
class NoisyFuture:
    """A clip whose future is noised, frame 0 clean."""

    latents: Tensor
    """(B, C, T, h, w)."""
    times: Tensor
    """(B, T)."""
    velocity: Tensor
    """(B, C, T - 1, h, w) noise - data."""
    level: Tensor
    """(B,) noise level of the future."""


def noise_future(
    clip: Tensor, conditional: float, share: float, generator: torch.Generator, to: float = 1.0
) -> NoisyFuture:
    """Noise the later frames of clips (B, C, T, h, w): a share of them to level `to`, the others to an even one."""
    level = torch.rand(len(clip), generator=generator)
    level = torch.where(torch.rand(len(clip), generator=generator) < share, torch.full((), to), level)
    future = clip[:, :, 1:].detach()
    noise = torch.randn(future.shape, generator=generator)
    current = clip[:, :, :1]
    noisy = mix(future, noise, level[:, None, None, None, None])
    latents = anchor(torch.cat([current, noisy], 2), current)
    return NoisyFuture(latents, frame_times(latents, level, conditional), noise - future, level)


def video_loss(predicted: Tensor, future: NoisyFuture, channels: int) -> Tensor:
    """Mean squared error (B,) of the velocity (B, C, T, h, w), on later frames and generated channels only."""
    error = predicted[:, :channels, 1:].float() - future.velocity[:, :channels]
    return error.square().mean((1, 2, 3, 4))


def generated_channels(config: ModelConfig) -> int:
    """Latent channels that later frames have."""
    return config.latent.channels - config.backbone.current_only_channels


def conditional_time(backbone: CosmosBackbone) -> float:
    """Time of the anchored frame."""
    return backbone.config.conditional_timestep


def action_loss(
    head: ActionHead,
    memory: Tensor | Sequence[Tensor],
    rows: Tensor,
    loss: ActionLoss,
    most_prefix: int,
    generator: torch.Generator,
) -> Tensor:
    """L1 (B,) between rows (B, H, 14) and the data that the head predicts, averaged over draws and free rows.

    `memory` is what the head's `step_inputs` name of what its `context` gave, each (B, ...); a tensor is the only one.
    A share of the draws is at time 1, where serving starts; a share has 1..most_prefix clean rows, at time 0, which do
    not count.
    """
    draws, (batch, horizon, _) = loss.draws, rows.shape
    parts = [memory] if isinstance(memory, Tensor) else memory
    data, needed = rows.repeat(draws, 1, 1), [part.repeat(draws, *[1] * (part.ndim - 1)) for part in parts]
    count = draws * batch
    time = torch.rand(count, generator=generator).clamp_min(LEAST_NOISE)
    time = torch.where(torch.rand(count, generator=generator) < loss.pure_noise_share, torch.ones(()), time)
    free = _free_rows(count, horizon, most_prefix, loss.prefix_share, generator)
    times = time[:, None] * free
    noisy = mix(data, torch.randn(data.shape, generator=generator), times[..., None])
    velocity = head.action_step(noisy, times, *needed)[0]
    predicted = noisy - velocity * times.clamp_min(LEAST_NOISE)[..., None]
    error = ((predicted - data).abs().mean(-1) * free).sum(1) / free.sum(1)
    return error.unflatten(0, (draws, batch)).mean(0)


def _free_rows(count: int, horizon: int, most_prefix: int, share: float, generator: torch.Generator) -> Tensor:
    """(count, H): 0 for the prefix rows, 1 for those to predict."""
    length = torch.randint(1, max(most_prefix, 1) + 1, (count,), generator=generator)
    has_prefix = (torch.rand(count, generator=generator) < share) & (most_prefix > 0)
    length = torch.where(has_prefix, length, torch.zeros_like(length))
    return (torch.arange(horizon)[None] >= length[:, None]).float()
