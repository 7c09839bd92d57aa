"""Stage 3: the action head, and with `adaptation = "full"` everything below it.

Most steps see the current frame alone: under frame-causal attention that is exactly the policy whose future is masked.
Joint steps see all latent frames of any pair, take the video loss for all of them and the action loss for seen pairs.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from contract.errors import ConfigurationError
from policy_server.model.card import PolicyCard
from policy_server.model.head_once import ReadOnceHead
from policy_server.model.policy import VideoActionModel
from training.adaptation import trained_by_actions
from training.card import card_of
from training.data.library import Moments
from training.looking import looking_loss
from training.losses import conditional_time, generated_channels, noise_future, video_loss
from training.precision import mixed
from training.run import Run
from training.stages.acting import clips_and_rows, kept, row_errors
from training.stages.base import Chance
from training.stages.encode import clip_of, draw_mirrored, instructions, mirror_some
from training.stages.materials import Materials, some

_VALIDATION = 256
_FIXED = 2**31 - 1
"""Step number whose randomness validation uses every time."""


class ActionStage:
    """`Stage`."""

    def __init__(self, run: Run, materials: Materials) -> None:
        self._run, self._materials, self._loss = run, materials, run.action

    def trained(self, model: VideoActionModel) -> Iterable[nn.Parameter]:
        return trained_by_actions(model, self._loss.adaptation)

    def loss(self, model: VideoActionModel, chance: Chance) -> tuple[Tensor, dict[str, float]]:
        if chance.numpy.random() < self._loss.joint_share:
            return self._joint(model, chance)
        materials, loss = self._materials, self._loss
        count = self._run.optimisation.batch
        far = loss.emphasise_far_moves
        chosen = materials.emphasis.draw(count, chance) if far else some(materials.acting, count, chance)
        errors, looks = self._current(model, materials.acting, chosen, (loss.null_language, loss.mirror), chance)
        told = {"action": errors.mean().item()}
        if looks is None:
            return errors.mean(), told
        return errors.mean() + loss.look_weight * looks.mean(), {**told, "looking": looks.mean().item()}

    @torch.no_grad()
    def validate(self, model: VideoActionModel) -> dict[str, float]:
        moments = self._materials.acting_validation
        chosen = some(moments, _VALIDATION, Chance(self._run.seed, _FIXED))
        told, null = (
            self._current(model, moments, chosen, (share, 0.0), Chance(self._run.seed, _FIXED)) for share in (0.0, 1.0)
        )
        # A policy that does not listen to the instruction has the same error without it.
        values = {"action": told[0].mean().item(), "without_language": null[0].mean().item()}
        return values if told[1] is None else {**values, "looking": told[1].mean().item()}

    def card(self, command: str) -> PolicyCard:
        return card_of(self._run, self._materials, command, trained=True)

    def _current(
        self,
        model: VideoActionModel,
        moments: Moments,
        chosen: NDArray[np.intp],
        shares: tuple[float, float],
        chance: Chance,
    ) -> tuple[Tensor, Tensor | None]:
        """Action errors (B,) from current-frame tokens alone, and looking losses (B,) if asked for.

        `shares`: null instructions, mirrored samples.
        """
        seen = self._materials.sampler.seen(moments, chosen, future=False)
        rows = self._materials.sampler.rows(moments, chosen)
        mirrored = draw_mirrored(len(rows), shares[1], chance)
        seen, rows = mirror_some(seen, rows, model.config.canvas, mirrored)
        with mixed(self._run.bf16):
            text = instructions(model, seen.tokens, shares[0], chance)
            latents = clip_of(model, seen.canvases)
            times = torch.full((len(latents), 1), conditional_time(model.backbone))
            features = model.backbone.features(latents, times, text)
        parts = (features, text, seen.state)
        errors = row_errors(model, self._materials, self._loss, parts, rows, torch.zeros(len(rows)), chance)
        if not self._loss.look_weight:
            return errors, None
        aims = self._materials.aims(moments, chosen, mirrored)
        return errors, self._looks(model, parts, aims)

    def _looks(self, model: VideoActionModel, parts: tuple[Tensor, ...], aims: Tensor) -> Tensor:
        """Looking losses (B,); `parts` = features, text, measured joints."""
        head = model.head
        if not isinstance(head, ReadOnceHead):
            raise ConfigurationError(
                "action.look_weight", expected="0 without a read-once head", got=type(head).__name__
            )
        features, text, joints = parts
        condition = head.condition(text.float(), self._materials.normaliser.state(joints))
        logits = head.reader.logits(features.float(), condition, torch.zeros(len(aims)))
        return looking_loss(logits, aims, model.config)

    def _joint(self, model: VideoActionModel, chance: Chance) -> tuple[Tensor, dict[str, float]]:
        materials, loss = self._materials, self._loss
        chosen = some(materials.video, loss.joint_batch, chance)
        seen, rows = clips_and_rows(model, materials, materials.video, chosen, loss.mirror, chance)
        with mixed(self._run.bf16):
            text = instructions(model, seen.tokens, loss.null_language, chance)
            clip = clip_of(model, seen.canvases)
            time = conditional_time(model.backbone)
            future = noise_future(clip, time, self._run.video.pure_noise_share, chance.torch)
            features, velocity = model.backbone.both(future.latents, future.times, text)
        video = video_loss(velocity, future, generated_channels(model.config)).mean()
        keep = kept(len(rows), loss.null_future, chance)
        parts = (features[: len(rows)], text[: len(rows)], seen.state[: len(rows)])
        action = row_errors(model, materials, loss, parts, rows, keep, chance).mean()
        total = action + loss.video_weight * video
        return total, {"joint_action": action.item(), "video": video.item()}
