"""WatchedEngine: an engine whose every output is kept, to find where two engines part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_server.engines.base import Engine


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One run of a graph; `step` counts its runs from 0."""

    graph: str
    step: int
    outputs: dict[str, NDArray]

    def __str__(self) -> str:
        return f"{self.graph}, step {self.step}"


class WatchedEngine:
    """`Engine` that passes everything on to another one; `calls` since the last `forget`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.calls: list[Call] = []
        self.id, self.runs_on = engine.id, engine.runs_on

    @property
    def graphs(self) -> tuple[str, ...]:
        """Names of the graphs."""
        return self._engine.graphs

    def inputs(self, graph: str) -> tuple[str, ...]:
        """Input names of one graph."""
        return self._engine.inputs(graph)

    def outputs(self, graph: str) -> tuple[str, ...]:
        """Output names of one graph."""
        return self._engine.outputs(graph)

    def run(self, graph: str, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Outputs of the engine, copied before anyone changes them."""
        outputs = self._engine.run(graph, feeds)
        step = Counter(call.graph for call in self.calls)[graph]
        self.calls.append(Call(graph, step, {name: np.array(array) for name, array in outputs.items()}))
        return outputs

    def close(self) -> None:
        """Give up the engine."""
        self._engine.close()

    def forget(self) -> None:
        """Begin a new list of calls."""
        self.calls = []


def first_parting(calls: list[Call], reference: list[Call], share: float = 0.01) -> str:
    """The first call whose outputs differ by more than `share` of their size, else the one that differs most."""
    pairs = [(mine, _difference(mine, other)) for mine, other in zip(calls, reference, strict=False)]
    if not pairs:
        return "before the first graph"
    mine, difference = next((pair for pair in pairs if pair[1] > share), max(pairs, key=lambda pair: pair[1]))
    return f"{mine} differs by {difference:.2g} of its size"


def _difference(mine: Call, other: Call) -> float:
    """Largest difference of any output, relative to the largest value of the reference."""
    return max(
        (
            float(np.max(np.abs(array - other.outputs[name]), initial=0.0))
            / max(float(np.max(np.abs(other.outputs[name]), initial=0.0)), 1e-12)
            for name, array in mine.outputs.items()
            if array.dtype.kind == "f" and name in other.outputs and array.shape == other.outputs[name].shape
        ),
        default=0.0,
    )
