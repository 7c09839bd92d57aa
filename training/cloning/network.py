"""Pixels, instruction and joints straight to rows: convolutions, keypoints by soft argmax, a small MLP.

It shares nothing with the video-action model but the data: no tokens, no backbone, no future.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from contract.architecture import View
from contract.layout import SIZE
from policy_server.model.config import ModelConfig

_CHANNELS, _POINTS, _WORDS, _WIDTH = 32, 32, 64, 512


class Eye(nn.Module):
    """One view (B, 3, S, S) in -1..1, told the instruction (B, 64), to keypoints (B, 32, 2): right and down, 0..1."""

    def __init__(self) -> None:
        super().__init__()
        kernels = ((3, 5, 2), (_CHANNELS, 3, 1), (_CHANNELS, 3, 1))
        self.layers = nn.ModuleList(nn.Conv2d(n, _CHANNELS, k, s, k // 2) for n, k, s in kernels)
        self.films = nn.ModuleList(nn.Linear(_WORDS, 2 * _CHANNELS) for _ in kernels)
        self.maps = nn.Conv2d(_CHANNELS, _POINTS, 1)

    def forward(self, picture: Tensor, said: Tensor) -> Tensor:
        found = picture
        for layer, film in zip(self.layers, self.films, strict=True):
            scale, shift = film(said)[..., None, None].chunk(2, 1)
            found = functional.relu(layer(found) * (1 + scale) + shift)
        weights = self.maps(found).float().flatten(2).softmax(-1).unflatten(2, found.shape[2:])
        side = (torch.arange(found.shape[-1], device=found.device) + 0.5) / found.shape[-1]
        return torch.stack([(weights.sum(2) * side).sum(-1), (weights.sum(3) * side).sum(-1)], -1)


class Cloner(nn.Module):
    """`config` is that of the size whose canvas, words and rows it shares."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.words = nn.Embedding(len(config.text.vocabulary) + 1, _WORDS, padding_idx=0)
        self.top, self.wrist = Eye(), Eye()
        seen = _POINTS * 2 * len(config.canvas.views)
        layers: list[nn.Module] = []
        width = seen + _WORDS + SIZE
        for _ in range(3):
            layers += [nn.Linear(width, _WIDTH), nn.LayerNorm(_WIDTH), nn.GELU()]
            width = _WIDTH
        self.rows = nn.Sequential(*layers, nn.Linear(width, config.head.horizon * SIZE))

    def forward(self, canvas: Tensor, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Canvases (B, Hc, Wc, 3) uint8, tokens (B, W), normalised joints (B, 14).

        Returns normalised rows (B, H, 14) and the top view's keypoints (B, 32, 2).
        """
        picture = canvas.movedim(-1, 1).float() / 127.5 - 1
        said = self.words(tokens).sum(1)
        views = {view.role: _cut(picture, view) for view in self.config.canvas.views}
        points = {role: (self.top if role == "top" else self.wrist)(part, said) for role, part in views.items()}
        flat = [points[role].flatten(1) * 2 - 1 for role in points]
        rows = self.rows(torch.cat([*flat, said, state], 1))
        return rows.unflatten(1, (self.config.head.horizon, SIZE)), points["top"]


def _cut(picture: Tensor, view: View) -> Tensor:
    return picture[:, :, view.top : view.top + view.height, view.left : view.left + view.width]
