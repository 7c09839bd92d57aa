"""The passes of the video model from noise to the tapped features, for one or two texts at once.

The arithmetic of policy_server.video, step for step, with the latents integrated in float32 whatever the model's type.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from contract.architecture import Video
from policy_server.model.loops.board import SEEN, Board
from policy_server.model.loops.staging import fixed

Pass = Callable[[Tensor, Tensor, Tensor], Tensor]
"""(latents, timesteps, text) -> velocity or features."""


class VideoLoop:
    """Fills `board.features` of the texts asked for."""

    def __init__(self, board: Board, video: Video, velocity: Pass, features: Pass) -> None:
        self._board, self._velocity, self._features = board, velocity, features
        levels = np.linspace(1.0, video.sigma, video.passes + 1) if video.passes else np.array([video.sigma])
        self._sizes = [float(np.float32(a - b)) for a, b in pairwise(levels)]
        times = np.repeat(levels.astype(np.float32)[:, None, None], SEEN, axis=1)
        times = np.repeat(times, video.latent_frames, axis=2)
        times[:, :, 0] = video.conditional_timestep
        device, self._dtype = board.latents.device, board.features.dtype
        self._times = fixed(times, device).to(self._dtype)
        """(passes + 1, 2, T)."""

    def run(self, first: int, count: int) -> None:
        """All passes and the tap for `count` texts from the text `first` on, in one batch."""
        board, latents = self._board, self._board.latents[:count]
        text = board.texts[first : first + count].to(self._dtype)
        latents[:, :, :1].copy_(board.latent.expand(count, -1, -1, -1, -1))
        latents[:, :, 1:].copy_(board.video_noise.expand(count, -1, -1, -1, -1))
        for step, size in enumerate(self._sizes):
            velocity = self._velocity(latents.to(self._dtype), self._times[step, :count], text).float()
            board.finite[step].copy_(torch.isfinite(velocity).all())
            # Frame 0 was written once and its velocity is never applied: that is what anchoring it means.
            latents[:, :, 1:].sub_(velocity[:, :, 1:] * size)
        features = self._features(latents.to(self._dtype), self._times[-1, :count], text)
        board.finite[len(self._sizes)].copy_(torch.isfinite(features).all())
        board.features[first : first + count].copy_(features)
