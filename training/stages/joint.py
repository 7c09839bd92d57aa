"""Fine-tuning a bidirectional video model, as Cosmos is: every step sees the whole clip, all frames at once.

A share of the samples has its future at the noise level of the tap: those teach the head, on features of noised true
futures, as the card says. The others have any level. All take the video loss. The autoencoder and the cached
instructions stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from policy_server.model.card import PolicyCard
from policy_server.model.policy import VideoActionModel
from training.adaptation import trained_by_actions
from training.card import card_of
from training.data.library import Moments
from training.losses import conditional_time, generated_channels, noise_future, video_loss
from training.precision import mixed
from training.run import Run
from training.stages.acting import clips_and_rows, kept, row_errors
from training.stages.base import Chance
from training.stages.encode import instructions
from training.stages.materials import Materials, some

_VALIDATION = 16
_FIXED = 2**31 - 1


class JointStage:
    """`Stage`."""

    def __init__(self, run: Run, materials: Materials) -> None:
        self._run, self._materials, self._loss = run, materials, run.action

    def trained(self, model: VideoActionModel) -> Iterable[nn.Parameter]:
        fixed = {id(parameter) for part in (model.latent, model.instruction) for parameter in part.parameters()}
        return (p for p in trained_by_actions(model, self._loss.adaptation) if id(p) not in fixed)

    def loss(self, model: VideoActionModel, chance: Chance) -> tuple[Tensor, dict[str, float]]:
        run, moments = self._run, self._materials.video
        chosen = some(moments, run.optimisation.batch, chance)
        share = run.video.pure_noise_share
        video, action = self._errors(model, moments, chosen, (share, self._loss.null_language), chance)
        total = action + self._loss.video_weight * video
        return total, {"action": action.item(), "video": video.item()}

    @torch.no_grad()
    def validate(self, model: VideoActionModel) -> dict[str, float]:
        moments, chance = self._materials.acting_validation, Chance(self._run.seed, _FIXED)
        video, action = self._errors(model, moments, some(moments, _VALIDATION, chance), (1.0, 0.0), chance)
        return {"action": action.item(), "video": video.item()}

    def card(self, command: str) -> PolicyCard:
        return card_of(self._run, self._materials, command, trained=True)

    def _errors(
        self,
        model: VideoActionModel,
        moments: Moments,
        chosen: NDArray[np.intp],
        shares: tuple[float, float],
        chance: Chance,
    ) -> tuple[Tensor, Tensor]:
        """Mean video loss, and action loss of those whose future is at the tap's level, 0 when there is none.

        `shares`: futures at that level, null instructions.
        """
        materials, loss = self._materials, self._loss
        seen, rows = clips_and_rows(model, materials, moments, chosen, loss.mirror, chance)
        with torch.no_grad(), mixed(self._run.bf16):
            clip = model.latent.encode_clip(seen.canvases).float()
        with mixed(self._run.bf16):
            text = instructions(model, seen.tokens, shares[1], chance)
            tap = model.backbone.config.sigma
            future = noise_future(clip, conditional_time(model.backbone), shares[0], chance.torch, tap)
            features, velocity = model.backbone.both(future.latents, future.times, text)
        video = video_loss(velocity, future, generated_channels(model.config)).mean()
        keep = kept(len(rows), loss.null_future, chance)
        parts = (features[: len(rows)], text[: len(rows)], seen.state[: len(rows)])
        errors = row_errors(model, materials, loss, parts, rows, keep, chance)
        at_tap = (future.level[: len(rows)] == tap).float()
        return video, (errors * at_tap).sum() / at_tap.sum().clamp_min(1)
