"""Batches to what the backbone takes: latents of clips, text with the null instruction dropped in."""

from __future__ import annotations

import torch
from torch import Tensor

from contract.architecture import Canvas
from contract.errors import ConfigurationError
from policy_server.model.latent_blocks import BlockLatent
from policy_server.model.policy import VideoActionModel
from training.data.samples import Seen
from training.mirror import mirrored_canvases, mirrored_values
from training.stages.base import Chance


def clip_of(model: VideoActionModel, kept: Tensor) -> Tensor:
    """Latents (B, C, T, h, w) of canvases (B, T, Hc, Wc, 3) that were already thinned to latent frames."""
    current = model.latent.encode(kept[:, 0]).float()
    if kept.shape[1] == 1:
        return current
    if not isinstance(model.latent, BlockLatent):
        raise ConfigurationError("latent.kind", expected="blocks", got=type(model.latent).__name__)
    with torch.no_grad(), torch.autocast(kept.device.type, enabled=False):
        later = model.latent.changes(kept)
    return torch.cat([current, later], 2)


def draw_mirrored(count: int, share: float, chance: Chance) -> Tensor:
    """(count,) bool: which samples are seen in the mirror."""
    return torch.rand(count, generator=chance.torch) < share


def mirror_some(seen: Seen, rows: Tensor, canvas: Canvas, chosen: Tensor) -> tuple[Seen, Tensor]:
    """The batch with the chosen samples (B,) mirrored; `rows` may be of the first samples only."""
    canvases, state, turned = seen.canvases.clone(), seen.state.clone(), rows.clone()
    canvases[chosen] = mirrored_canvases(canvases[chosen], canvas)
    state[chosen] = mirrored_values(state[chosen])
    acting = chosen[: len(rows)]
    turned[acting] = mirrored_values(turned[acting])
    return Seen(canvases, seen.tokens, state), turned


def instructions(model: VideoActionModel, tokens: Tensor, null_share: float, chance: Chance) -> Tensor:
    """Text (B, L, Dt); a share of the samples gets the null instruction, in backbone and head alike."""
    null = torch.rand(len(tokens), generator=chance.torch) < null_share
    return model.instruction(tokens * ~null[:, None])
