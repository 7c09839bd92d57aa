"""What every stage is to the trainer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from policy_server.model.card import PolicyCard
from policy_server.model.policy import VideoActionModel


class Chance:
    """All randomness of one step, from (seed, step) alone: a resumed run draws what an uninterrupted one does.

    `member`: number of the process in a team (training.team); each draws samples of its own.
    """

    def __init__(self, seed: int, step: int, member: int = 0) -> None:
        self.numpy = np.random.default_rng([seed, step, member] if member else [seed, step])
        device = torch.get_default_device()
        self.torch = torch.Generator(device).manual_seed(int(self.numpy.integers(2**62)))


class Stage(Protocol):
    """Losses of one stage."""

    def trained(self, model: VideoActionModel) -> Iterable[nn.Parameter]:
        """The parameters that this stage trains."""

    def loss(self, model: VideoActionModel, chance: Chance) -> tuple[Tensor, dict[str, float]]:
        """The loss of one step and what to log of it."""

    def validate(self, model: VideoActionModel) -> dict[str, float]:
        """Losses on demonstrations kept from training, always with the same noise."""

    def card(self, command: str) -> PolicyCard:
        """What the checkpoint says of itself."""
