"""Stage 1: fit the latent encoder's components and give its stem a data-dependent start. Takes seconds, not steps."""

from __future__ import annotations

import torch

from contract.errors import ConfigurationError
from policy_server.model.latent_blocks import BlockLatent
from policy_server.model.policy import VideoActionModel
from training.stages.base import Chance
from training.stages.materials import Materials, some

_CLIPS = 384


def fit_latent(model: VideoActionModel, materials: Materials, seed: int) -> dict[str, float]:
    """Fit on clips of all pairs; returns what the components keep and how well frames come back."""
    if not isinstance(model.latent, BlockLatent):
        raise ConfigurationError("latent.kind", expected="blocks", got=type(model.latent).__name__)
    chance = Chance(seed, 0)
    chosen = some(materials.video, min(_CLIPS, len(materials.video) // 4 + 1), chance)
    clips = materials.sampler.seen(materials.video, chosen, future=True).canvases
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        kept = model.latent.fit(clips)
    return {"variance_kept": kept, "psnr_db": reconstruction_db(model.latent, materials, seed)}


@torch.no_grad()
def reconstruction_db(latent: BlockLatent, materials: Materials, seed: int) -> float:
    """Peak signal-to-noise ratio [dB] of decoded against true frames, on fresh demonstrations."""
    chosen = some(materials.video_validation, 64, Chance(seed, 1))
    kept = materials.sampler.seen(materials.video_validation, chosen, future=True).canvases
    latents = torch.cat([latent.encode(kept[:, 0]), latent.changes(kept)], 2)
    frames = ((latent.decode(latents).clamp(-1, 1) + 1) * 127.5).movedim(2, -1)
    error = (frames - kept.float()).square().mean()
    return float(10 * torch.log10(255.0**2 / error))
