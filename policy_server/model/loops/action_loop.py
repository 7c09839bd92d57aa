"""The head's Euler loop from noise to rows, all branches in one batch: policy_server.flow, step for step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from policy_server.model.loops.board import Board

Step = Callable[..., tuple[Tensor, ...]]
"""(rows, times, what the head needs again...) -> velocity and, from some heads, masses."""


class ActionLoop:
    """Fills `board.rows` and `board.masses`; rows are integrated in float32 whatever the model's type."""

    def __init__(self, board: Board, step: Step, memory: Sequence[str], steps: int, flag: int) -> None:
        self._board, self._step, self._memory, self._flag = board, step, tuple(memory), flag
        self._levels = [float(np.float32(1.0 - k / steps)) for k in range(steps)]
        self._size = float(np.float32(1.0 / steps))

    def run(self, count: int) -> None:
        """All flow steps for the first `count` branches of the board's context."""
        board, dtype = self._board, self._board.features.dtype
        memory = [board.context[name][:count] for name in self._memory]
        free = 1.0 - board.given[:, 0].float()
        board.rows.copy_(board.action_noise)
        for number, level in enumerate(self._levels):
            board.rows.copy_(torch.where(board.given, board.prefix, board.rows))
            rows = board.rows.to(dtype).expand(count, -1, -1)
            times = (free * level).to(dtype).expand(count, -1)
            velocity, *masses = self._step(rows, times, *memory)
            velocity = velocity.float()
            finite = torch.stack([torch.isfinite(each).all() for each in (velocity, *masses)])
            board.finite[self._flag + number].copy_(finite.all())
            board.rows.sub_(self._combined(velocity) * self._size)
            if masses:
                board.masses[number].copy_(masses[0][0])
        board.rows.copy_(torch.where(board.given, board.prefix, board.rows))

    def _combined(self, velocity: Tensor) -> Tensor:
        """(H, 14): v_full + sum of scale * (v_full - v_branch), in the order of policy_server.guidance.combine."""
        total = velocity[0]
        for branch in range(1, len(velocity)):
            total = total + self._board.weights[branch - 1] * (velocity[0] - velocity[branch])
        return total
