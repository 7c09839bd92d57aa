"""Stage 2: video flow matching on all pairs, without actions.

This is the prior that knows more combinations than the action data.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from policy_server.model.card import PolicyCard
from policy_server.model.policy import VideoActionModel
from training.card import card_of
from training.data.library import Moments
from training.data.samples import Seen
from training.losses import NoisyFuture, conditional_time, generated_channels, noise_future, video_loss
from training.precision import mixed
from training.run import Run, VideoLoss
from training.stages.base import Chance
from training.stages.encode import clip_of, draw_mirrored, instructions, mirror_some
from training.stages.materials import Materials, some

_VALIDATION = 192


class VideoStage:
    """`Stage`: instruction encoder, stem and backbone learn to imagine; the head is left alone."""

    def __init__(self, run: Run, materials: Materials) -> None:
        self._run, self._materials = run, materials

    def trained(self, model: VideoActionModel) -> Iterable[nn.Parameter]:
        yield from model.latent.parameters()
        yield from model.instruction.parameters()
        yield from model.backbone.parameters()

    def loss(self, model: VideoActionModel, chance: Chance) -> tuple[Tensor, dict[str, float]]:
        chosen = some(self._materials.video, self._run.optimisation.batch, chance)
        errors, future = self._errors(model, self._materials.video, chosen, chance)
        pure = errors[future.level == 1.0]
        return errors.mean(), {"video": errors.mean().item(), "video_pure": pure.mean().item() if len(pure) else 0.0}

    @torch.no_grad()
    def validate(self, model: VideoActionModel) -> dict[str, float]:
        return imagination(model, self._run, self._materials)

    def card(self, command: str) -> PolicyCard:
        return card_of(self._run, self._materials, command, trained=False)

    def _errors(
        self, model: VideoActionModel, moments: Moments, chosen: NDArray[np.intp], chance: Chance
    ) -> tuple[Tensor, NoisyFuture]:
        seen = self._materials.sampler.seen(moments, chosen, future=True)
        loss = self._run.video
        mirrored = draw_mirrored(len(chosen), loss.mirror, chance)
        seen, _ = mirror_some(seen, seen.state[:0, None], model.config.canvas, mirrored)
        return video_errors(model, seen, loss, self._run.bf16, chance)


def video_errors(
    model: VideoActionModel, seen: Seen, loss: VideoLoss, bf16: bool, chance: Chance
) -> tuple[Tensor, NoisyFuture]:
    """Video losses (B,) of what is seen and the noised clips they are of."""
    with mixed(bf16):
        text = instructions(model, seen.tokens, loss.null_language, chance)
        clip = clip_of(model, seen.canvases)
        future = noise_future(clip, conditional_time(model.backbone), loss.pure_noise_share, chance.torch)
        velocity = model.backbone.velocity(future.latents, future.times, text)
    return video_loss(velocity, future, generated_channels(model.config)), future


@torch.no_grad()
def imagination(model: VideoActionModel, run: Run, materials: Materials) -> dict[str, float]:
    """Mean square latent errors of what is imagined from pure noise in one pass, on fresh demonstrations.

    video_pure: told what is done; video_pure_null: not told; unchanged: of a future in which nothing moves.
    """
    moments, fixed = materials.video_validation, 2**31 - 1
    chosen = some(moments, _VALIDATION, Chance(run.seed, fixed))
    seen = materials.sampler.seen(moments, chosen, future=True)
    values, unchanged = {}, 0.0
    for name, null in (("video_pure", 0.0), ("video_pure_null", 1.0)):
        loss = run.video.model_copy(update={"pure_noise_share": 1.0, "null_language": null})
        errors, future = video_errors(model, seen, loss, run.bf16, Chance(run.seed, fixed))
        values[name] = errors.mean().item()
        data = (future.latents[:, :, 1:] - future.velocity)[:, : generated_channels(model.config)]
        unchanged = data.square().mean().item()
    return {**values, "unchanged": unchanged}
