"""bf16 where it pays: the video model; losses and the action head stay in float32."""

from __future__ import annotations

import torch


def mixed(bf16: bool) -> torch.autocast:
    """A context in which matrix products run in bfloat16, or nothing changes."""
    return torch.autocast(torch.get_default_device().type, dtype=torch.bfloat16, enabled=bf16)
