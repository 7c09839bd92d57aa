"""GraphCompiler: one small Protocol for what turns an ONNX graph into an engine. The libraries are in engines/."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from policy_server.compiled.branches import Branches
from policy_server.compiled.record import Binding
from policy_server.compiled.target import Compiler

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Compiled:
    """An engine, and the names, dtypes and shapes that it was built for."""

    engine: bytes
    inputs: tuple[Binding, ...]
    outputs: tuple[Binding, ...]


class GraphCompiler(Protocol):
    """Builds engines of one library for one card."""

    @property
    def name(self) -> Compiler:
        """Import name of the library."""

    @property
    def version(self) -> str:
        """Version of the library, whole: engines of another one do not load."""

    @property
    def card(self) -> str:
        """Compute capability built for, never `current`."""

    @property
    def driver(self) -> str:
        """CUDA driver of this machine, empty where there is none."""

    def compile(self, graph: Path, branches: Branches, progress: Progress) -> Compiled:
        """The engine of an ONNX file. Raises `EngineError` with the library's words, `KeyboardInterrupt` on Ctrl-C."""
