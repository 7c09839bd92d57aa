"""The latent encoder interface, and what its two implementations share.

At serving only the current frame is encoded. Training encodes clips: the current frame and `temporal` video frames for
every future latent frame, 17 frames for T = 5.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from policy_server.model.config import LatentConfig


class LatentEncoder(nn.Module, ABC):
    """Interface: canvas to normalised latent (per channel about mean 0, deviation 1) and back."""

    @abstractmethod
    def encode(self, canvas: Tensor) -> Tensor:
        """(B, Hc, Wc, 3) uint8 -> (B, C, 1, h, w)."""

    @abstractmethod
    def encode_clip(self, canvases: Tensor) -> Tensor:
        """(B, 1 + temporal * (T - 1), Hc, Wc, 3) uint8 -> (B, C, T, h, w)."""

    @abstractmethod
    def decode(self, latents: Tensor) -> Tensor:
        """(B, C, T, h, w) -> (B, F, 3, Hc, Wc) in -1..1.

        F is T for conv and blocks, 1 + temporal * (T - 1) for wan.
        """


def pixels(canvas: Tensor) -> Tensor:
    """uint8 (..., Hc, Wc, 3) -> float (..., 3, Hc, Wc) in -1..1."""
    # Cast before anything else: TensorRT takes uint8 at a cast and nowhere else.
    return canvas.float().movedim(-1, -3) / 127.5 - 1.0


def to_uint8(video: Tensor) -> Tensor:
    """Float (B, F, 3, Hc, Wc) in -1..1 -> uint8 (B, F, Hc, Wc, 3)."""
    return ((video.clamp(-1.0, 1.0) + 1.0) * 127.5).round().movedim(2, -1).byte()


def build_latent_encoder(config: LatentConfig) -> LatentEncoder:
    """The encoder that the configuration names."""
    if config.kind == "conv":
        from policy_server.model.latent_conv import ConvLatent

        return ConvLatent(config)
    if config.kind == "blocks":
        from policy_server.model.latent_blocks import BlockLatent

        return BlockLatent(config)
    from policy_server.model.latent_wan import WanLatent

    return WanLatent(config)
