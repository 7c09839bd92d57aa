"""Keys and values of the head, once per replan and branch, into their places on the board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import torch
from torch import Tensor

from contract.types import Branch
from policy_server.head import KEEPS_FUTURE
from policy_server.model.loops.board import Board

VIDEO: Final[dict[Branch, int]] = {"full": 0, "nolang": 1, "noplan": 0}
"""Which features and text of the board a branch looks at."""


class ContextLoop:
    """Fills `board.context`; `flag` is where it says whether all of it was finite."""

    def __init__(self, board: Board, context: Callable[..., tuple[Tensor, ...]], flag: int) -> None:
        self._board, self._context, self._flag = board, context, flag
        one = torch.ones(1, dtype=board.features.dtype, device=board.features.device)
        self._keep = {branch: one * keep for branch, keep in KEEPS_FUTURE.items()}

    def run(self, branches: Sequence[Branch], first: int) -> None:
        """The context of `branches`, in one batch, into the places from `first` on."""
        board, dtype = self._board, self._board.features.dtype
        # Slices put together, not an index: an index would be a tensor made on the host.
        features = torch.cat([board.features[VIDEO[branch] : VIDEO[branch] + 1] for branch in branches])
        text = torch.cat([board.texts[VIDEO[branch] : VIDEO[branch] + 1] for branch in branches]).to(dtype)
        state = board.state.to(dtype).expand(len(branches), -1)
        keep = torch.cat([self._keep[branch] for branch in branches])
        finite = []
        for name, value in zip(board.context, self._context(features, text, state, keep), strict=True):
            board.context[name][first : first + len(branches)].copy_(value)
            finite.append(torch.isfinite(value).all())
        board.finite[self._flag].copy_(torch.stack(finite).all())
