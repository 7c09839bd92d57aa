"""A loss on where the read-once head looks: one attention head per event at the place of the next close or open."""

from __future__ import annotations

import torch
from torch import Tensor

from policy_server.model.config import ModelConfig


def looking_loss(logits: Tensor, aims: Tensor, config: ModelConfig) -> Tensor:
    """Cross-entropy (B,) between attention (B, heads, H, N) of the first heads and the aims (B, E, 2) in the top view.

    An aim between tokens is shared among its four neighbours. Aims that are NaN do not count.
    """
    known = ~aims.isnan().any(-1)
    wanted = token_shares(aims.nan_to_num(0.5), config)
    count = wanted.shape[-1]
    told = logits[:, : aims.shape[1]].log_softmax(-1)[..., :count].mean(2)
    return -((wanted * told).sum(-1) * known).sum(1) / known.sum(1).clamp_min(1)


def future_looking_loss(logits: Tensor, aims: Tensor, config: ModelConfig) -> Tensor:
    """`looking_loss` on each later frame by itself, averaged over them.

    How much of its attention a head gives to which frame is left to the action loss, so that the Temporal Ratio stays a
    measurement.
    """
    count = config.token_grid[1] * config.token_grid[2]
    later = logits[..., count:].unflatten(-1, (-1, count)).unbind(-2)
    return torch.stack([looking_loss(frame, aims, config) for frame in later]).mean(0)


def token_shares(aims: Tensor, config: ModelConfig) -> Tensor:
    """(B, E, 2) points, right and down 0..1 in the top view -> (B, E, tokens of a frame) bilinear shares, sum 1."""
    view = next(view for view in config.canvas.views if view.role == "top")
    _, rows, columns = config.token_grid
    right = _shares((view.left + aims[..., 0] * view.width) * columns / config.canvas.width, columns)
    down = _shares((view.top + aims[..., 1] * view.height) * rows / config.canvas.height, rows)
    return (down[..., :, None] * right[..., None, :]).flatten(-2)


def _shares(place: Tensor, count: int) -> Tensor:
    """Shares (..., count) of the two cells around a place, in units of cells from the canvas' edge."""
    centres = torch.arange(count) + 0.5
    inside = place.clamp(0.5, count - 0.5)
    return (1 - (inside[..., None] - centres).abs()).clamp_min(0)


def mirrored_aims(aims: Tensor) -> Tensor:
    """Aims in the mirrored station."""
    return torch.stack([1 - aims[..., 0], aims[..., 1]], -1)
