"""What the device can do at most, measured: a large matrix product and a large copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from policy_server.bench.engines.contestants import onnx_runtime
from policy_server.bench.engines.device_clock import time_calls
from policy_server.model.graphs import Graph, GraphModule

_SIDES = {"cuda": 8192, "cpu": 1024}
_COPY_BYTES = {"cuda": 1 << 30, "cpu": 1 << 27}


@dataclass(frozen=True, slots=True)
class Peaks:
    """Of one device and dtype."""

    tflop_s: float
    gb_s: float
    """Read plus written."""
    product_by: str
    """Whose matrix product was the fastest."""


def measure_peaks(device: torch.device, dtype: torch.dtype, rounds: int = 20) -> Peaks:
    """The fastest of `rounds` products and copies; on a CPU of three libraries, which differ by a factor of two."""
    side = _SIDES[device.type]
    a = torch.randn(side, side, device=device, dtype=dtype)
    b = torch.randn(side, side, device=device, dtype=dtype)
    products: dict[str, Callable[[], object]] = {"torch": lambda: a @ b}
    if device.type == "cpu" and dtype == torch.float32:
        products |= {"numpy": lambda: a.numpy() @ b.numpy(), "ONNX Runtime": _onnx_runtime_product(a, b)}
    best = {name: min(time_calls(call, device, rounds, 3)) for name, call in products.items()}
    fastest = min(best, key=lambda name: best[name])
    source = torch.empty(_COPY_BYTES[device.type] // 4, device=device, dtype=torch.float32)
    target = torch.empty_like(source)
    copy_ms = min(time_calls(lambda: target.copy_(source), device, rounds, 3))
    return Peaks(2 * side**3 / best[fastest] / 1e9, 2 * source.nbytes / copy_ms / 1e6, fastest)


def _onnx_runtime_product(a: torch.Tensor, b: torch.Tensor) -> Callable[[], object]:
    product = Graph("product", GraphModule(nn.Linear(1, 1), torch.matmul), {"a": a, "b": b}, ("product",), False)
    return onnx_runtime(product)((a, b))
