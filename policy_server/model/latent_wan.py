"""Wan2.1's video autoencoder as Cosmos-Predict2.5 uses it: the mode of the posterior, normalised per channel."""

from __future__ import annotations

from typing import Any

import torch
from diffusers import AutoencoderKLWan
from torch import Tensor

from policy_server.model.config import LatentConfig
from policy_server.model.latent import LatentEncoder, pixels


class WanLatent(LatentEncoder):
    """`LatentEncoder` around diffusers' AutoencoderKLWan (8x spatial, 4x temporal, causal)."""

    vae: Any
    mean: Tensor
    deviation: Tensor

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        arguments: dict[str, object] = {"base_dim": config.width, "z_dim": config.channels, **config.vae}
        self.vae = AutoencoderKLWan(**arguments)
        shape = (1, config.channels, 1, 1, 1)
        self.register_buffer("mean", torch.tensor(self.vae.config.latents_mean).view(shape), persistent=False)
        self.register_buffer("deviation", torch.tensor(self.vae.config.latents_std).view(shape), persistent=False)

    def encode(self, canvas: Tensor) -> Tensor:
        return self.encode_clip(canvas.unsqueeze(1))

    def encode_clip(self, canvases: Tensor) -> Tensor:
        video = pixels(canvases).transpose(1, 2)
        return (self.vae.encode(video).latent_dist.mode() - self.mean) / self.deviation

    def decode(self, latents: Tensor) -> Tensor:
        video = self.vae.decode(latents * self.deviation + self.mean, return_dict=False)[0]
        return video.transpose(1, 2)
