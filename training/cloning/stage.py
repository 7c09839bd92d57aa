"""What the cloned policy is taught: the rows, and where two of its keypoints are to be."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from policy_server.model.card import PolicyCard
from training.card import card_of
from training.cloning.network import Cloner
from training.data.library import Moments
from training.precision import mixed
from training.run import Run
from training.stages.base import Chance
from training.stages.encode import draw_mirrored, mirror_some
from training.stages.materials import Materials, some

_VALIDATION = 512
_FIXED = 2**31 - 1


class CloningStage:
    """Mean absolute error of the rows, and of two keypoints from where the hand will next close or open.

    The second is what `training.looking` is to the video-action model: without it an instruction is learned too late.
    """

    def __init__(self, run: Run, materials: Materials) -> None:
        self._run, self._materials = run, materials

    def trained(self, model: Cloner) -> Iterable[nn.Parameter]:
        """Everything."""
        return model.parameters()

    def loss(self, model: Cloner, chance: Chance) -> tuple[Tensor, dict[str, float]]:
        """Of one batch of seen pairs."""
        moments, loss = self._materials.acting, self._run.action
        chosen = some(moments, self._run.optimisation.batch, chance)
        rows, looks = self._errors(model, moments, chosen, (loss.mirror, loss.state_noise), chance)
        return rows + loss.look_weight * looks, {"action": rows.item(), "looking": looks.item()}

    @torch.no_grad()
    def validate(self, model: Cloner) -> dict[str, float]:
        """The same on demonstrations kept from training."""
        moments, chance = self._materials.acting_validation, Chance(self._run.seed, _FIXED)
        rows, looks = self._errors(model, moments, some(moments, _VALIDATION, chance), (0.0, 0.0), chance)
        return {"action": rows.item(), "looking": looks.item()}

    def card(self, command: str) -> PolicyCard:
        """Statistics and provenance, as of any policy."""
        return card_of(self._run, self._materials, command, trained=True)

    def _errors(
        self, model: Cloner, moments: Moments, chosen: NDArray[np.intp], shares: tuple[float, float], chance: Chance
    ) -> tuple[Tensor, Tensor]:
        """`shares`: mirrored samples, deviation of noise on the state."""
        materials, normal = self._materials, self._materials.normaliser
        seen, rows = materials.sampler.seen(moments, chosen, future=False), materials.sampler.rows(moments, chosen)
        mirrored = draw_mirrored(len(chosen), shares[0], chance)
        seen, rows = mirror_some(seen, rows, model.config.canvas, mirrored)
        state = normal.state(seen.state)
        state = state + shares[1] * torch.randn(state.shape, generator=chance.torch)
        with mixed(self._run.bf16):
            told, points = model(seen.canvases[:, 0], seen.tokens, state)
        aims = materials.aims(moments, chosen, mirrored)
        apart = (points[:, : aims.shape[1]] - aims).abs()
        known = ~aims.isnan()
        looks = torch.where(known, apart.nan_to_num(), torch.zeros(())).sum() / known.sum().clamp_min(1)
        return (told.float() - normal.rows(rows, seen.state)).abs().mean(), looks
