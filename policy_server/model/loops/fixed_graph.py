"""One graph for one number of branches on fixed buffers: encoder and decoder, and every graph step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from policy_server.model.feeds import checked_feed
from policy_server.model.graphs import Graph
from policy_server.model.loops.captured import Captured
from policy_server.model.loops.device_errors import device_errors
from policy_server.model.loops.staging import Staging


class FixedGraph:
    """Made by `fix_graph`; `run` copies in, launches one piece of work, copies out."""

    def __init__(
        self,
        graph: Graph,
        inputs: Mapping[str, Tensor],
        outputs: Mapping[str, Tensor],
        piece: Captured,
        staging: Staging,
    ) -> None:
        self.inputs, self.outputs = inputs, outputs
        self._graph, self._piece, self._staging = graph, piece, staging

    def run(self, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Outputs by name. Raises `EngineError` for a feed that does not fit and for the device's errors."""
        arrays = {name: checked_feed(self._graph, name, feeds) for name in self.inputs}
        with device_errors(f"graph {self._graph.name}"):
            self._staging.begin()
            for name, array in arrays.items():
                self._staging.upload(self.inputs[name], array)
            self._staging.arrived()
            self._piece.launch()
            got = self._staging.download(*self.outputs.values())
        return dict(zip(self.outputs, got, strict=True))


@torch.no_grad()
def fix_graph(
    graph: Graph, branches: int, device: torch.device, call: Callable[..., Any], staging: Staging, pool: Any = None
) -> FixedGraph:
    """Buffers for a graph whose module is on `device`, and its work; `call` is the module, compiled or not."""
    inputs = {
        name: (each[:1].expand(branches, *each.shape[1:]) if graph.branches else each).contiguous().to(device)
        for name, each in graph.inputs.items()
    }
    with device_errors(f"graph {graph.name}"):
        made = _all(call(*inputs.values()))
    outputs = {name: torch.empty_like(each) for name, each in zip(graph.outputs, made, strict=True)}

    def work() -> None:
        for target, made in zip(outputs.values(), _all(call(*inputs.values())), strict=True):
            target.copy_(made)

    return FixedGraph(graph, inputs, outputs, Captured(work, device, pool), staging)


def _all(made: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return made if isinstance(made, tuple) else (made,)
