"""An engine of given functions, with latency and faults on request: for tests, benches and rehearsals of failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError

Arrays = Mapping[str, NDArray]


@dataclass(frozen=True, slots=True)
class ScriptedGraph:
    """One graph: names and the function that stands for it."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    function: Callable[[Arrays], dict[str, NDArray]]
    latency_ns: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong at the call number `call` (from 0) of a graph."""

    graph: str
    call: int
    kind: Literal["nan", "infinite", "raise"]


class ScriptedEngine:
    """Runs functions. Time passes through `sleep`, so a fake clock can drive it."""

    def __init__(self, graphs: Mapping[str, ScriptedGraph], sleep: Callable[[float], None] = time.sleep) -> None:
        self.id = "scripted/fp32"
        self.runs_on = "numpy functions of a script, no model"
        self.batches: dict[str, list[int]] = {name: [] for name in graphs}
        """Batch size of every call so far, by graph."""
        self.faults: set[Fault] = set()
        self.script: dict[str, ScriptedGraph] = dict(graphs)
        """The graphs; may be exchanged between runs."""
        self._sleep = sleep

    @property
    def graphs(self) -> tuple[str, ...]:
        """Names of the graphs."""
        return tuple(self.script)

    def inputs(self, graph: str) -> tuple[str, ...]:
        """Input names of one graph."""
        return self.script[graph].inputs

    def outputs(self, graph: str) -> tuple[str, ...]:
        """Output names of one graph."""
        return self.script[graph].outputs

    def run(self, graph: str, feeds: Arrays) -> dict[str, NDArray]:
        """Outputs of the function after its latency; raises `EngineError` where a fault says so."""
        script = self.script[graph]
        call = len(self.batches[graph])
        self.batches[graph].append(len(next(iter(feeds.values()))))
        if script.latency_ns:
            self._sleep(script.latency_ns * 1e-9)
        outputs = script.function(feeds)
        for fault in self.faults:
            if (fault.graph, fault.call) == (graph, call):
                return _spoil(outputs, fault)
        return outputs

    def close(self) -> None:
        """Nothing is held."""


def _spoil(outputs: dict[str, NDArray], fault: Fault) -> dict[str, NDArray]:
    if fault.kind == "raise":
        raise EngineError(f"{fault.graph}, call {fault.call}", got="a scripted failure", remedy="remove the fault")
    spoiled = {name: np.array(array) for name, array in outputs.items()}
    first = next(iter(spoiled.values()))
    first.flat[first.size // 2] = np.nan if fault.kind == "nan" else np.inf
    return spoiled
