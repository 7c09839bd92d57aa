"""Latents from pixel blocks: principal components of 8 x 8 blocks, and learned channels of the current frame alone.

Of the C channels the first `block_channels` are fixed after fitting: of the current frame its components, of later
frames the components of their *change* since the current frame, so a future in which nothing moves is all zeros. The
remaining channels come from a trainable convolutional stem and exist only for the current frame, which is given and
never generated; later frames hold zeros there, and the backbone hides whatever noise a sampler puts into them
(`current_only_channels`). A clip keeps every fourth frame (times 0, 4, 8, 12, 16), one picture per latent frame.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from policy_server.model.config import LatentConfig
from policy_server.model.latent import LatentEncoder, pixels
from policy_server.model.stem import build_stem, initialise_stem


class BlockLatent(LatentEncoder):
    """`LatentEncoder`; the basis and its statistics are buffers, so they travel with the weights."""

    basis: Tensor
    """(K, 3 * size * size) orthonormal rows."""
    centre: Tensor
    gain: Tensor
    """(K,) of the current frame's components."""
    change_gain: Tensor
    """(K,) of the later frames' changes."""

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        self.temporal, self.size = config.temporal, config.spatial
        self.blocks = config.block_channels
        self.learned = config.channels - config.block_channels
        numbers = 3 * self.size * self.size
        self.stem = build_stem(config.width, self.learned, self.size)
        self.register_buffer("basis", torch.eye(self.blocks, numbers))
        self.register_buffer("centre", torch.zeros(numbers))
        self.register_buffer("gain", torch.ones(self.blocks))
        self.register_buffer("change_gain", torch.ones(self.blocks))

    def encode(self, canvas: Tensor) -> Tensor:
        picture = pixels(canvas)
        own = self.components(picture) * self.gain[:, None, None]
        return torch.cat([own, self.stem(picture)], 1).unsqueeze(2)

    def encode_clip(self, canvases: Tensor) -> Tensor:
        return torch.cat([self.encode(canvases[:, 0]), self.changes(canvases[:, :: self.temporal])], 2)

    def changes(self, kept: Tensor) -> Tensor:
        """Latents (B, C, T - 1, h, w) of the later of T kept canvases (B, T, Hc, Wc, 3) uint8."""
        parts = self.components(pixels(kept.flatten(0, 1))).unflatten(0, kept.shape[:2])
        moved = (parts[:, 1:] - parts[:, :1]).transpose(1, 2) * self.change_gain[:, None, None, None]
        return functional.pad(moved, (0, 0, 0, 0, 0, 0, 0, self.learned))

    def components(self, picture: Tensor) -> Tensor:
        """(B, 3, Hc, Wc) in -1..1 -> principal components (B, K, h, w), not scaled."""
        cells = functional.pixel_unshuffle(picture, self.size) - self.centre[:, None, None]
        return functional.conv2d(cells, self.basis[:, :, None, None])

    def decode(self, latents: Tensor) -> Tensor:
        own = latents[:, : self.blocks, :1] / self.gain[:, None, None, None]
        later = own + latents[:, : self.blocks, 1:] / self.change_gain[:, None, None, None]
        parts = torch.cat([own, later], 2).transpose(1, 2)
        cells = functional.conv2d(parts.flatten(0, 1), self.basis.T[:, :, None, None]) + self.centre[:, None, None]
        return functional.pixel_shuffle(cells, self.size).unflatten(0, parts.shape[:2])

    @torch.no_grad()
    def fit(self, clips: Tensor) -> float:
        """Components of (B, T, Hc, Wc, 3) uint8 kept canvases, and the stem's data-dependent start.

        Returns the share of the pixels' variance, current frames and changes together, that the components keep.
        """
        cells = functional.pixel_unshuffle(pixels(clips.flatten(0, 1)), self.size).unflatten(0, clips.shape[:2])
        own = cells[:, 0].movedim(1, -1).flatten(0, -2)
        change = (cells[:, 1:] - cells[:, :1]).movedim(2, -1).flatten(0, -2)
        self.centre.copy_(own.mean(0))
        own = own - self.centre
        # Changes are rare, so they would hardly count beside the still picture: each part is given the same weight.
        spread = own.T @ own / own.square().sum() + change.T @ change / change.square().sum()
        values, vectors = torch.linalg.eigh(spread)
        self.basis.copy_(vectors.T.flip(0)[: self.blocks])
        self.gain.copy_(_half_whitening(own @ self.basis.T))
        self.change_gain.copy_(_half_whitening(change @ self.basis.T))
        initialise_stem(self.stem, pixels(clips[:, 0]))
        return float(values.flip(0)[: self.blocks].sum() / values.sum())


def _half_whitening(parts: Tensor) -> Tensor:
    """Gains (K,) that leave channel k with deviation proportional to the root of its own, mean square 1 in all.

    Full whitening would make the finest texture weigh as much as the place of an arm; none would drown it in noise.
    """
    gain = parts.square().mean(0).clamp_min(1e-8) ** -0.25
    return gain / (parts * gain).square().mean().sqrt()
