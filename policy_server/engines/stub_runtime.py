"""StubRuntime: a runtime without a card, with the faults of one on request: out of memory, raise, hang, NaN.

It "loads" the bytes of an ONNX graph's engine by handing the graph to another engine of the same bundle, so answers
are real ones and only the device is made up. For tests and rehearsals of failure.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError
from policy_server.compiled.machine import Machine
from policy_server.engines.base import Engine

FaultKind = Literal["out_of_memory", "raise", "hang", "nan"]


@dataclass(slots=True)
class Faults:
    """What goes wrong from now on, by graph; `released` ends every hang."""

    active: dict[str, FaultKind] = field(default_factory=dict)
    released: threading.Event = field(default_factory=threading.Event)


class StubExecutable:
    """`Executable` of one graph."""

    def __init__(self, graph: str, engine: Engine, faults: Faults) -> None:
        self._graph, self._engine, self._faults = graph, engine, faults
        self.inputs, self.outputs = engine.inputs(graph), engine.outputs(graph)

    def run(self, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Outputs of the engine behind, or the fault that is active."""
        kind = self._faults.active.get(self._graph)
        if kind == "out_of_memory":
            raise EngineError(
                f"graph {self._graph}", got="CUDA error 2: out of memory", remedy="free the card, or fewer branches"
            )
        if kind == "raise":
            # A library's own exception, not one of ours: the server must survive those too.
            raise RuntimeError("the device is lost")
        if kind == "hang":
            self._faults.released.wait(_LONGEST_HANG_S)
        outputs = self._engine.run(self._graph, feeds)
        return {name: np.full_like(array, np.nan) for name, array in outputs.items()} if kind == "nan" else outputs

    def close(self) -> None:
        """Nothing of its own is held."""


class StubRuntime:
    """`Runtime` of a machine that is only said to be there."""

    def __init__(self, machine: Machine, engine: Engine, faults: Faults | None = None) -> None:
        self.machine, self._engine = machine, engine
        self.faults = faults or Faults()

    def load(self, name: str, engine: bytes) -> StubExecutable:
        """The graph `name`; empty bytes are refused as a library would."""
        if not engine:
            raise EngineError(f"engine {name}", expected="bytes", got="none", remedy="build it again")
        return StubExecutable(name, self._engine, self.faults)

    def close(self) -> None:
        """Give up the engine behind."""
        self._engine.close()


_LONGEST_HANG_S = 60.0
