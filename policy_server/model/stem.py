"""The convolutional stem: pixels to learned channels at one cell per block, and how it starts.

In the trial that grasped, a data-dependent start mattered as much as the head: the first layer sees whitened patches
(every direction of a 5 x 5 patch counts alike, not only its brightness), and every channel of every layer starts with
mean 0 and deviation 1.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

_FLOOR = 3e-3
"""Added to the variance of a patch direction, as a share of the mean variance, so that noise is not blown up."""
_MOST_PATCHES = 200_000


def build_stem(width: int, channels: int, cell: int) -> nn.Sequential:
    """(B, 3, H, W) in -1..1 -> (B, channels, H / cell, W / cell)."""
    return nn.Sequential(
        nn.Conv2d(3, width, 5, stride=2, padding=2),
        nn.GELU(),
        nn.Conv2d(width, width, 3, stride=2, padding=1),
        nn.GELU(),
        nn.Conv2d(width, width, 3, padding=1),
        nn.GELU(),
        nn.PixelUnshuffle(cell // 4),
        nn.Conv2d(width * (cell // 4) ** 2, channels, 1),
    )


@torch.no_grad()
def initialise_stem(stem: nn.Sequential, pictures: Tensor) -> None:
    """Whitened first layer, then unit channels throughout, on (B, 3, H, W) pictures in -1..1."""
    first = next(layer for layer in stem if isinstance(layer, nn.Conv2d))
    _whiten_patches(first, pictures)
    signal = pictures
    for layer in stem:
        if isinstance(layer, nn.Conv2d):
            unit_channels(layer, layer(signal))
        signal = layer(signal)


@torch.no_grad()
def unit_channels(layer: nn.Conv2d, output: Tensor) -> None:
    """Rescale a layer so that the `output` it gave would have mean 0, deviation 1 per channel."""
    deviation = output.std((0, 2, 3)).clamp_min(1e-3)
    layer.weight.div_(deviation[:, None, None, None])
    if layer.bias is not None:
        layer.bias.copy_((layer.bias - output.mean((0, 2, 3))) / deviation)


def _whiten_patches(layer: nn.Conv2d, pictures: Tensor) -> None:
    """Random orthonormal directions in the space of whitened patches."""
    patches = functional.unfold(pictures, layer.kernel_size, stride=layer.stride).movedim(1, -1).flatten(0, 1)
    patches = patches[:: max(1, len(patches) // _MOST_PATCHES)]
    patches = patches - patches.mean(0)
    values, vectors = torch.linalg.eigh(patches.T @ patches / len(patches))
    whitening = vectors / (values + _FLOOR * values.mean()).sqrt()
    directions, _ = torch.linalg.qr(torch.randn(len(values), layer.out_channels))
    layer.weight.copy_((whitening @ directions).T.unflatten(1, layer.weight.shape[1:]))
