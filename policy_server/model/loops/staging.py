"""Staging: copies between numpy and fixed device tensors; pinned and on a stream of their own on a card."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Staging:
    """Copies in run beside the computation; copies out follow it, and `download` is where the host waits for it.

    Tensors keep their twins for good, so that nothing is allocated or pinned per call.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._twins: dict[tuple[int, torch.Size], Tensor] = {}
        self._copies: torch.cuda.Stream | None = None

    def begin(self) -> None:
        """Before the first upload of a replan: earlier copies are over, earlier work is done with what they filled."""
        if self._device.type == "cuda":
            if self._copies is None:
                self._copies = torch.cuda.Stream(self._device)
            self._copies.synchronize()
            self._copies.wait_stream(torch.cuda.current_stream(self._device))

    def upload(self, target: Tensor, array: NDArray) -> None:
        """Begin to copy an array into a fixed tensor of its shape; `arrived` orders what follows behind it.

        Once per tensor and `begin`: the twin may still be on its way.
        """
        twin = self._twin(target)
        twin.numpy()[...] = array
        if self._copies is not None:
            with torch.cuda.stream(self._copies):
                target.copy_(twin, non_blocking=True)

    def arrived(self) -> None:
        """Everything launched from now on sees the uploads so far. The host waits for nothing."""
        if self._copies is not None:
            torch.cuda.current_stream(self._device).wait_stream(self._copies)

    def download(self, *sources: Tensor) -> list[NDArray]:
        """Copies of fixed tensors once all work before is done; narrow floats come as float32."""
        if self._device.type != "cuda":
            return [_widened(source).numpy().copy() for source in sources]
        twins = [self._twin(source) for source in sources]
        for source, twin in zip(sources, twins, strict=True):
            twin.copy_(source, non_blocking=True)
        torch.cuda.current_stream(self._device).synchronize()
        return [_widened(twin).numpy().copy() for twin in twins]

    def _twin(self, tensor: Tensor) -> Tensor:
        """The host's side of a fixed tensor; on a CPU that is the tensor itself."""
        if self._device.type != "cuda":
            return tensor
        key = tensor.data_ptr(), tensor.shape
        if key not in self._twins:
            self._twins[key] = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        return self._twins[key]


def _widened(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor


def fixed(array: NDArray, device: torch.device) -> Tensor:
    """A fixed tensor that starts with the values of an array."""
    return torch.from_numpy(np.ascontiguousarray(array)).clone().to(device)
