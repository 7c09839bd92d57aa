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
from training.losses import NoisyFuture, action_loss, conditional_time, generated_channels, noise_future, video_loss
from training.precision import mixed
from training.run import Run
from training.stages.base import Chance
from training.stages.encode import draw_mirrored, instructions, mirror_some
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
        """Mean video and action loss; `shares`: futures at the tap's level, null instructions."""
        sampler = self._materials.sampler
        acts = sampler.acts(moments, chosen)
        order = np.argsort(~acts, kind="stable")
        chosen, count = chosen[order], int(acts.sum())
        seen, rows = sampler.seen(moments, chosen, future=True), sampler.rows(moments, chosen[:count])
        mirrored = draw_mirrored(len(chosen), self._loss.mirror, chance)
        seen, rows = mirror_some(seen, rows, model.config.canvas, mirrored)
        with torch.no_grad(), mixed(self._run.bf16):
            clip = model.latent.encode_clip(seen.canvases).float()
        with mixed(self._run.bf16):
            text = instructions(model, seen.tokens, shares[1], chance)
            tap = model.backbone.config.sigma
            future = noise_future(clip, conditional_time(model.backbone), shares[0], chance.torch, tap)
            features, velocity = model.backbone.both(future.latents, future.times, text)
        video = video_loss(velocity, future, generated_channels(model.config)).mean()
        parts = tuple(part[:count] for part in (features, text, seen.state))
        return video, self._action(model, parts, rows, future, chance)

    def _action(
        self, model: VideoActionModel, parts: tuple[Tensor, ...], rows: Tensor, future: NoisyFuture, chance: Chance
    ) -> Tensor:
        """Over the samples whose future is at the tap's level; 0 when there is none."""
        features, text, joints = parts
        normal, loss, head = self._materials.normaliser, self._loss, model.config.head
        at_tap = (future.level[: len(rows)] == model.backbone.config.sigma).float()
        state = normal.state(joints)
        state = state + loss.state_noise * torch.randn(state.shape, generator=chance.torch)
        keep = (torch.rand(len(rows), generator=chance.torch) >= loss.null_future).float()
        memory = dict(
            zip(
                model.head.context_outputs,
                model.head.context(features.float(), text.float(), state, keep),
                strict=True,
            )
        )
        needed = [memory[name] for name in model.head.step_inputs]
        errors = action_loss(model.head, needed, normal.rows(rows, joints), loss, head.max_prefix, chance.torch)
        return (errors * at_tap).sum() / at_tap.sum().clamp_min(1)
