"""Captured: work on fixed tensors, put on one CUDA graph on a card, run as it is on a CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch

_WARM_UPS: Final = 3
"""Runs on a side stream before a capture, as torch asks: libraries make their workspaces and choose kernels in them."""


class Captured:
    """`work` reads fixed tensors, writes fixed tensors, and gives the same however often it is run.

    It may not look at a value on the host, nor make a tensor out of host data: a capture records launches, not Python.
    `pool` is the memory that all captures of one engine share: they never run at the same time, and nothing of one is
    needed by the next but what lies in the fixed tensors.
    """

    def __init__(self, work: Callable[[], None], device: torch.device, pool: Any = None) -> None:
        self._work, self._device, self._pool = work, device, pool
        self._graph: torch.cuda.CUDAGraph | None = None

    @property
    def captured(self) -> bool:
        """Whether there is a CUDA graph of it."""
        return self._graph is not None

    @torch.no_grad()
    def launch(self) -> None:
        """Run it on the current stream; on a card the first launch captures it and takes its time."""
        if self._device.type != "cuda":
            self._work()
            return
        if self._graph is None:
            self._graph = self._capture()
        self._graph.replay()

    def _capture(self) -> torch.cuda.CUDAGraph:
        side = torch.cuda.Stream(self._device)
        side.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(side):
            for _ in range(_WARM_UPS):
                self._work()
        torch.cuda.current_stream(self._device).wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        # Thread-local: what other threads of the server do is no part of it, and may not spoil it.
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            self._work()
        return graph
