"""CompiledEngine: the graphs of a bundle as engines of one runtime, each checked before any is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from numpy.typing import NDArray

from contract.errors import EngineError
from policy_server.bundle import Bundle
from policy_server.compiled.record import EngineRecord
from policy_server.compiled.runtime import Executable, Runtime
from policy_server.compiled.servable import servable_record
from policy_server.compiled.target import CURRENT, Compiler, Target


class CompiledEngine:
    """`Engine` over executables that are already loaded; `load` loads them."""

    def __init__(self, runtime: Runtime, record: EngineRecord, executables: Mapping[str, Executable]) -> None:
        self._runtime, self.record, self._executables = runtime, record, dict(executables)
        machine = runtime.machine
        weights = record.weights_hash[:12]
        self.id = f"{record.compiler}-{record.compiler_version}-{record.card}/{record.precision}/{weights}"
        self.runs_on = (
            f"{record.compiler} {machine.compiler_version} on {machine.card_name or 'a card'} ({machine.card}), "
            f"driver {machine.driver or 'unknown'}, {record.precision}"
        )

    @classmethod
    def load(cls, runtime: Runtime, bundle: Bundle, folder: Path, compiler: Compiler) -> CompiledEngine:
        """Check the folder of engines against bundle and machine, then load every engine, or none.

        Raises `BundleError` and `EngineError` as `servable_record` does, and `EngineError` when the library refuses.
        """
        record = servable_record(folder, bundle, runtime.machine, Target(compiler, CURRENT))
        loaded: dict[str, Executable] = {}
        try:
            for name in record.graphs:
                loaded[name] = runtime.load(name, (folder / f"{name}.engine").read_bytes())
        except EngineError:
            for executable in loaded.values():
                executable.close()
            raise
        return cls(runtime, record, loaded)

    @property
    def graphs(self) -> tuple[str, ...]:
        """Names of the graphs."""
        return tuple(self._executables)

    def inputs(self, graph: str) -> tuple[str, ...]:
        """Input names of one graph."""
        return self._executables[graph].inputs

    def outputs(self, graph: str) -> tuple[str, ...]:
        """Output names of one graph."""
        return self._executables[graph].outputs

    def run(self, graph: str, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Outputs by name. Raises `EngineError` with the library's own words."""
        if graph not in self._executables:
            raise EngineError("graph", expected=", ".join(self._executables) or "an open engine", got=graph)
        return self._executables[graph].run(feeds)

    def close(self) -> None:
        """Give up every engine and the card."""
        for executable in self._executables.values():
            executable.close()
        self._executables.clear()
        self._runtime.close()
