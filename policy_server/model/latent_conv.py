"""A small trainable latent encoder and decoder, 8x spatial, frame by frame.

A clip keeps every fourth frame (times 0, 4, 8, 12, 16), so one latent frame is one picture and decodes to one.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from policy_server.model.config import LatentConfig
from policy_server.model.latent import LatentEncoder, pixels


def _encoder(width: int, channels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, width, 5, stride=2, padding=2),
        nn.GELU(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
        nn.GELU(),
        nn.Conv2d(2 * width, 2 * width, 3, padding=1),
        nn.GELU(),
        nn.PixelUnshuffle(2),
        nn.Conv2d(8 * width, channels, 1),
    )


def _decoder(width: int, channels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, 8 * width, 1),
        nn.PixelShuffle(2),
        nn.Conv2d(2 * width, 2 * width, 3, padding=1),
        nn.GELU(),
        nn.Conv2d(2 * width, 4 * width, 3, padding=1),
        nn.PixelShuffle(2),
        nn.GELU(),
        nn.Conv2d(width, 12, 3, padding=1),
        nn.PixelShuffle(2),
    )


class ConvLatent(LatentEncoder):
    """`LatentEncoder` with convolutions; statistics of its latents are buffers, so they travel with the weights."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        self.temporal = config.temporal
        self.encoder = _encoder(config.width, config.channels)
        self.decoder = _decoder(config.width, config.channels)
        self.register_buffer("mean", torch.zeros(config.channels, 1, 1))
        self.register_buffer("deviation", torch.ones(config.channels, 1, 1))

    def encode(self, canvas: Tensor) -> Tensor:
        return ((self.encoder(pixels(canvas)) - self.mean) / self.deviation).unsqueeze(2)

    def encode_clip(self, canvases: Tensor) -> Tensor:
        kept = canvases[:, :: self.temporal]
        return self.encode(kept.flatten(0, 1)).squeeze(2).unflatten(0, kept.shape[:2]).transpose(1, 2)

    def decode(self, latents: Tensor) -> Tensor:
        frames = latents.transpose(1, 2)
        video = self.decoder(frames.flatten(0, 1) * self.deviation + self.mean)
        return video.unflatten(0, frames.shape[:2])

    @torch.no_grad()
    def set_statistics(self, canvases: Tensor) -> None:
        """Measure mean and deviation per channel on (B, Hc, Wc, 3) uint8 canvases, after training the encoder."""
        latents = self.encoder(pixels(canvases))
        self.mean.copy_(latents.mean((0, 2, 3))[:, None, None])
        self.deviation.copy_(latents.std((0, 2, 3)).clamp_min(1e-3)[:, None, None])

    @torch.no_grad()
    def initialise_from(self, canvases: Tensor) -> None:
        """Data-dependent initialisation: every convolution's channels get mean 0, deviation 1 on these canvases.

        In the trial of the read-once policy this mattered as much as the head did.
        """
        signal = pixels(canvases)
        for layer in self.encoder:
            if isinstance(layer, nn.Conv2d):
                _whiten(layer, layer(signal))
            signal = layer(signal)
        self.set_statistics(canvases)


def _whiten(layer: nn.Conv2d, output: Tensor) -> None:
    deviation = output.std((0, 2, 3)).clamp_min(1e-3)
    bias = layer.bias
    if bias is None:
        return
    layer.weight.div_(deviation[:, None, None, None])
    bias.copy_((bias - output.mean((0, 2, 3))) / deviation)
