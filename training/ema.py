"""A running average of the weights, which is what gets kept."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from policy_server.model.policy import VideoActionModel


class Ema:
    """Averages parameters and copies buffers; the decay starts short, so early steps do not linger."""

    def __init__(self, model: VideoActionModel, decay: float) -> None:
        self.model: VideoActionModel = copy.deepcopy(model)
        self.model.eval().requires_grad_(False)
        self._decay = decay

    @torch.no_grad()
    def update(self, model: VideoActionModel, step: int) -> None:
        """Take in the weights after `step` steps."""
        decay = min(self._decay, (1 + step) / (10 + step))
        mine: list[Tensor] = list(self.model.parameters())
        theirs: list[Tensor] = list(model.parameters())
        torch._foreach_lerp_(mine, theirs, 1.0 - decay)
        for own, other in zip(self.model.buffers(), model.buffers(), strict=True):
            own.copy_(other)
