"""What every stage that teaches the head shares: clips whose acting samples come first, and the error of the rows."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from policy_server.model.policy import VideoActionModel
from training.data.library import Moments
from training.data.samples import Seen
from training.losses import action_loss
from training.run import ActionLoss
from training.stages.base import Chance
from training.stages.encode import draw_mirrored, mirror_some
from training.stages.materials import Materials


def clips_and_rows(
    model: VideoActionModel,
    materials: Materials,
    moments: Moments,
    chosen: NDArray[np.intp],
    mirror: float,
    chance: Chance,
) -> tuple[Seen, Tensor]:
    """Whole clips of the chosen moments, and rows (A, H, 14) of the A samples that give actions, which come first."""
    acts = materials.sampler.acts(moments, chosen)
    chosen, count = chosen[np.argsort(~acts, kind="stable")], int(acts.sum())
    seen = materials.sampler.seen(moments, chosen, future=True)
    rows = materials.sampler.rows(moments, chosen[:count])
    mirrored = draw_mirrored(len(chosen), mirror, chance)
    return mirror_some(seen, rows, model.config.canvas, mirrored)


def row_errors(
    model: VideoActionModel,
    materials: Materials,
    loss: ActionLoss,
    parts: tuple[Tensor, Tensor, Tensor],
    rows: Tensor,
    keep: Tensor,
    chance: Chance,
) -> Tensor:
    """Action errors (B,) of absolute rows (B, H, 14).

    `parts`: features (B, N, D), text (B, L, Dt), measured joints (B, 14). `keep` (B,): 0 hides the future.
    """
    features, text, joints = parts
    normal, head = materials.normaliser, model.head
    state = normal.state(joints)
    state = state + loss.state_noise * torch.randn(state.shape, generator=chance.torch)
    context = head.context(features.float(), text.float(), state, keep)
    named = dict(zip(head.context_outputs, context, strict=True))
    memory = [named[name] for name in head.step_inputs]
    targets = normal.rows(rows, joints)
    return action_loss(head, memory, targets, loss, model.config.head.max_prefix, chance.torch)


def kept(count: int, share: float, chance: Chance) -> Tensor:
    """(count,) 1, or 0 for a share of the samples, whose future is hidden from the head."""
    return (torch.rand(count, generator=chance.torch) >= share).float()
