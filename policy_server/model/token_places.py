"""Where each video token lies: frame, row and column of the token grid."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from policy_server.model.flow import sinusoid

Grid = tuple[int, int, int]


def coordinates(grid: Grid) -> Tensor:
    """(N, 3): frame 0..1, row -1..1, column -1..1 of every token, frame-major."""
    axes = [torch.linspace(low, 1.0, count) for low, count in zip((0.0, -1.0, -1.0), grid, strict=True)]
    return torch.stack(torch.meshgrid(*axes, indexing="ij"), -1).flatten(0, 2)


def indicators(grid: Grid) -> Tensor:
    """(N, 2): 1 in column 0 for tokens of the current frame (C), 1 in column 1 for those of later frames (F)."""
    current = (torch.arange(grid[0] * grid[1] * grid[2]) < grid[1] * grid[2]).float()
    return torch.stack([current, 1.0 - current], -1)


class TokenPlaces(nn.Module):
    """A learned place embedding, one table per axis, starting from sines so that near tokens start alike."""

    def __init__(self, grid: Grid, width: int) -> None:
        super().__init__()
        self.tables = nn.ParameterList(
            nn.Parameter(sinusoid(torch.linspace(0.0, 1.0, count), width, 0.25, max(count / 4, 0.5))) for count in grid
        )

    def forward(self) -> Tensor:
        """(N, width) for all tokens, frame-major."""
        frame, row, column = self.tables
        places = frame[:, None, None] + row[None, :, None] + column[None, None, :]
        return places.flatten(0, 2)
