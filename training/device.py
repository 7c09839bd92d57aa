"""Where tensors of data go."""

from __future__ import annotations

import torch
from torch import Tensor


def here(tensor: Tensor) -> Tensor:
    """The tensor on the device that this process trains on (training.team makes it the default one)."""
    return tensor.to(torch.get_default_device())
