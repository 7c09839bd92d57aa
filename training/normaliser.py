"""policy_server.statistics for batches of tensors: raw values to what the head sees, and back."""

from __future__ import annotations

import torch
from torch import Tensor

from contract.manifest import Action, Statistics


class BatchNormaliser:
    """Absolute and delta channels; velocity channels are not trained here."""

    def __init__(self, state: Statistics, action: Action) -> None:
        by_kind = {entry.kind: entry for entry in action.statistics}
        chosen = [by_kind[kind] for kind in action.kinds]
        self._offset = torch.tensor([entry.offset[i] for i, entry in enumerate(chosen)])
        self._scale = torch.tensor([entry.scale[i] for i, entry in enumerate(chosen)])
        self._delta = torch.tensor([float(kind == "delta") for kind in action.kinds])
        self._state_offset, self._state_scale = torch.tensor(state.offset), torch.tensor(state.scale)

    def state(self, joints: Tensor) -> Tensor:
        """(B, 14) measured -> normalised."""
        return (joints - self._state_offset) / self._state_scale

    def rows(self, targets: Tensor, joints: Tensor) -> Tensor:
        """(B, H, 14) absolute targets -> normalised rows."""
        return (targets - self._delta * joints[:, None] - self._offset) / self._scale
