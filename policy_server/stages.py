"""Running the graphs of one replan: inputs by name from a pool, time per stage, and no answer with a hole in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from contract.errors import EngineError
from policy_server.engines.base import GRAPHS, Engine

Pool = Mapping[str, NDArray]
Result = TypeVar("Result")


class Stopwatch:
    """Time per stage of one replan; `engine` is the part of the whole that was spent inside the engine."""

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._start = self._last = clock()
        self._spent: dict[str, int] = {}
        self._engine_ns = 0

    def stage(self, name: str) -> None:
        """All time since the last call belongs to the stage `name`; a stage that comes again adds up."""
        now = self._clock()
        self._spent[name] = self._spent.get(name, 0) + now - self._last
        self._last = now

    def engine(self, call: Callable[[], Result]) -> Result:
        """What `call` gives; its time counts as the engine's."""
        before = self._clock()
        result = call()
        self._engine_ns += self._clock() - before
        return result

    def durations_ns(self) -> dict[str, int]:
        """Stage -> time, with `engine` (inside engine calls) and `total`."""
        return {**self._spent, "engine": self._engine_ns, "total": self._last - self._start}


class Stages:
    """The graphs of one engine, fed by name."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._inputs = {graph: engine.inputs(graph) for graph in engine.graphs}
        missing = [graph for graph in GRAPHS if graph not in self._inputs]
        if missing:
            raise EngineError(
                "graphs", expected=", ".join(GRAPHS), got=f"no {', '.join(missing)}", remedy="export the bundle again"
            )

    def needs(self, graph: str, name: str) -> bool:
        """Whether a graph takes the input `name`."""
        return name in self._inputs[graph]

    def run(self, graph: str, pool: Pool, watch: Stopwatch, step: int | None = None) -> dict[str, NDArray]:
        """Outputs of a graph; what it needs is taken from `pool` by name.

        Raises `EngineError` naming graph and step when an input is missing or an output is not finite (B23).
        """
        names = self._inputs[graph]
        missing = [name for name in names if name not in pool]
        if missing:
            raise EngineError(
                f"inputs of {_place(graph, step)}",
                expected=", ".join(names),
                got=f"no {', '.join(missing)}",
                remedy="export the bundle again with this release",
            )
        feeds = {name: pool[name] for name in names}
        outputs = watch.engine(lambda: self.engine.run(graph, feeds))
        for name, array in outputs.items():
            require_finite(array, name, graph, step)
        return outputs


def require_finite(array: NDArray, name: str, stage: str, step: int | None = None) -> None:
    """Raises `EngineError` naming the stage, the step and the first value that is NaN or infinite."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return
    where = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
    raise EngineError(
        f"{name} of {_place(stage, step)}",
        expected="finite values",
        got=f"{array[where]} at {tuple(int(i) for i in where)}",
        remedy="no answer is given; check the observation, and the bundle's precision on this device",
    )


def _place(graph: str, step: int | None) -> str:
    return graph if step is None else f"{graph}, step {step}"
