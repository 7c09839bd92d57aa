"""Stage 3 of a policy whose instruction reaches the head through the imagined future alone.

Every acting sample is seen as in serving: the future is imagined from noise, under the instruction, down to the noise
level of the tap, and the head reads features of that. Some steps also take the video loss, on the same samples and on
others of any pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from contract.errors import ConfigurationError
from policy_server.model.card import PolicyCard
from policy_server.model.head_once import ReadOnceHead
from policy_server.model.policy import VideoActionModel
from policy_server.model.video import denoise, frame_times
from training.adaptation import trained_by_actions
from training.card import card_of
from training.data.library import Moments
from training.looking import future_looking_loss
from training.precision import mixed
from training.run import Run
from training.stages.acting import kept, row_errors
from training.stages.base import Chance
from training.stages.encode import clip_of, draw_mirrored, mirror_some
from training.stages.materials import Materials, by_pair, evenly, some
from training.stages.video import imagination, video_errors

_VALIDATION = 256
_FIXED = 2**31 - 1
"""Step number whose randomness validation uses every time."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Acting samples, as drawn."""

    canvases: Tensor
    """(B, 1 or T, Hc, Wc, 3) uint8."""
    tokens: Tensor
    """(B, W), the null instruction dropped in."""
    joints: Tensor
    rows: Tensor
    aims: Tensor
    """(B, 2, 2), NaN also where the instruction was dropped: nobody can tell where to look then."""


class ForesightStage:
    """`Stage`."""

    def __init__(self, run: Run, materials: Materials) -> None:
        self._run, self._materials, self._loss = run, materials, run.action
        self._by_pair = by_pair(materials.library, materials.video) if run.video.even_pairs else None

    def trained(self, model: VideoActionModel) -> Iterable[nn.Parameter]:
        return trained_by_actions(model, self._loss.adaptation)

    def loss(self, model: VideoActionModel, chance: Chance) -> tuple[Tensor, dict[str, float]]:
        run, loss = self._run, self._loss
        batch = self._draw(
            model, self._materials.acting, run.optimisation.batch, (loss.null_language, loss.mirror), chance
        )
        features = self.features(model, batch.canvases, batch.tokens, chance)
        keep = kept(len(features), loss.null_future, chance)
        action = self._errors(model, features, batch, keep, chance).mean()
        looks = self._looks(model, features, batch).mean()
        total, told = action + loss.look_weight * looks, {"action": action.item(), "looking": looks.item()}
        if chance.numpy.random() < loss.joint_share:
            video = self._video(model, chance)
            total, told = total + loss.video_weight * video, {**told, "video": video.item()}
        return total, told

    @torch.no_grad()
    def validate(self, model: VideoActionModel) -> dict[str, float]:
        """`errors_of` fresh demonstrations of seen pairs, and of what is imagined."""
        errors = self.errors_of(model, self._materials.acting_validation)
        return {**errors, **imagination(model, self._run, self._materials)}

    @torch.no_grad()
    def errors_of(self, model: VideoActionModel, moments: Moments) -> dict[str, float]:
        """Errors with the future kept, masked, and imagined for another sample's instruction, by the same noise."""
        batch = self._draw(model, moments, _VALIDATION, (0.0, 0.0), Chance(self._run.seed, _FIXED))
        told = self.features(model, batch.canvases, batch.tokens, Chance(self._run.seed, _FIXED))
        other = self.features(model, batch.canvases, batch.tokens.roll(1, 0), Chance(self._run.seed, _FIXED))
        whole = torch.ones(len(told))
        values = {"looking": self._looks(model, told, batch).mean().item()}
        for name, features, keep in (("action", told, whole), ("masked", told, 0 * whole), ("reworded", other, whole)):
            errors = self._errors(model, features, batch, keep, Chance(self._run.seed, _FIXED))
            values[name] = errors.mean().item()
        return values

    def card(self, command: str) -> PolicyCard:
        return card_of(self._run, self._materials, command, trained=True, feature_source="generated")

    def _draw(
        self, model: VideoActionModel, moments: Moments, count: int, shares: tuple[float, float], chance: Chance
    ) -> Batch:
        """`shares`: null instructions, mirrored samples."""
        chosen = some(moments, count, chance)
        seen = self._materials.sampler.seen(moments, chosen, future=False)
        mirrored = draw_mirrored(count, shares[1], chance)
        seen, rows = mirror_some(seen, self._materials.sampler.rows(moments, chosen), model.config.canvas, mirrored)
        null = torch.rand(count, generator=chance.torch) < shares[0]
        aims = self._materials.aims(moments, chosen, mirrored).masked_fill(null[:, None, None], torch.nan)
        return Batch(seen.canvases, seen.tokens * ~null[:, None], seen.state, rows, aims)

    def features(self, model: VideoActionModel, canvases: Tensor, tokens: Tensor, chance: Chance) -> Tensor:
        """Features (B, N, D) of the current frames and of futures imagined from noise as serving does it.

        Gradients flow through the tapped pass, not through the passes before it.
        """
        backbone, config = model.backbone, model.config
        with mixed(self._run.bf16):
            text, current = model.instruction(tokens), clip_of(model, canvases)
            shape = (len(current), config.latent.channels, config.latent.frames - 1, *config.latent_size)
            noise = torch.randn(shape, generator=chance.torch)
            with torch.no_grad():
                settings = backbone.config
                imagined = denoise(backbone, current, noise, text, settings.passes, settings.sigma)[:, :, 1:]
            latents = torch.cat([current, imagined], 2)
            times = frame_times(latents, settings.sigma, settings.conditional_timestep)
            return backbone.features(latents, times, text)

    def _errors(self, model: VideoActionModel, features: Tensor, batch: Batch, keep: Tensor, chance: Chance) -> Tensor:
        """Action errors (B,)."""
        no_text = torch.zeros(len(features), model.config.text.length, model.config.text.width)
        parts = (features, no_text, batch.joints)
        return row_errors(model, self._materials, self._loss, parts, batch.rows, keep, chance)

    def _looks(self, model: VideoActionModel, features: Tensor, batch: Batch) -> Tensor:
        """Looking losses (B,): where in each later frame two attention heads look."""
        head = model.head
        if not isinstance(head, ReadOnceHead):
            raise ConfigurationError("size", expected="a read-once head", got=type(head).__name__)
        state = self._materials.normaliser.state(batch.joints)
        logits = head.reader.logits(features.float(), state, torch.ones(len(state)))
        return future_looking_loss(logits, batch.aims, model.config)

    def _video(self, model: VideoActionModel, chance: Chance) -> Tensor:
        """The video loss of some moments of any pair."""
        moments, loss = self._materials.video, self._run.video
        count = self._loss.joint_batch
        chosen = some(moments, count, chance) if self._by_pair is None else evenly(self._by_pair, count, chance)
        seen = self._materials.sampler.seen(moments, chosen, future=True)
        mirrored = draw_mirrored(len(chosen), loss.mirror, chance)
        seen, _ = mirror_some(seen, seen.state[:0, None], model.config.canvas, mirrored)
        return video_errors(model, seen, loss, self._run.bf16, chance)[0].mean()
