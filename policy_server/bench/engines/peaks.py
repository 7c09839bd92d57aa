"""What the device can do at most, measured: a large matrix product and a large copy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from policy_server.bench.engines.device_clock import time_calls

_SIDES = {"cuda": 8192, "cpu": 1024}
_COPY_BYTES = {"cuda": 1 << 30, "cpu": 1 << 27}


@dataclass(frozen=True, slots=True)
class Peaks:
    """Of one device and dtype."""

    tflop_s: float
    gb_s: float
    """Read plus written."""


def measure_peaks(device: torch.device, dtype: torch.dtype, rounds: int = 20) -> Peaks:
    """Median of `rounds` products and copies."""
    side = _SIDES[device.type]
    a = torch.randn(side, side, device=device, dtype=dtype)
    b = torch.randn(side, side, device=device, dtype=dtype)
    product_ms = float(np.median(time_calls(lambda: a @ b, device, rounds, 5)))
    source = torch.empty(_COPY_BYTES[device.type] // 4, device=device, dtype=torch.float32)
    target = torch.empty_like(source)
    copy_ms = float(np.median(time_calls(lambda: target.copy_(source), device, rounds, 5)))
    return Peaks(2 * side**3 / product_ms / 1e9, 2 * source.nbytes / copy_ms / 1e6)
