"""The graphs of a torch model by name, as both torch engines have them."""

from __future__ import annotations

from collections.abc import Mapping

from contract.errors import EngineError
from policy_server.model.graphs import Graph


class TorchGraphs:
    """Names of graphs and of what they take and give; what runs them is the engine that builds on this."""

    def __init__(self, graphs: Mapping[str, Graph]) -> None:
        self._graphs = dict(graphs)

    @property
    def graphs(self) -> tuple[str, ...]:
        """Names of the graphs."""
        return tuple(self._graphs)

    def inputs(self, graph: str) -> tuple[str, ...]:
        """Input names of one graph. Raises `EngineError` for a name that is none."""
        return tuple(self._graph(graph).inputs)

    def outputs(self, graph: str) -> tuple[str, ...]:
        """Output names of one graph. Raises `EngineError` for a name that is none."""
        return self._graph(graph).outputs

    def _graph(self, name: str) -> Graph:
        if name not in self._graphs:
            raise EngineError("graph", expected=", ".join(self._graphs) or "an open engine", got=name)
        return self._graphs[name]
