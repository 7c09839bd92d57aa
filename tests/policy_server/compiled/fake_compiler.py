"""A compiler whose engines are a line of text, for tests of everything around a compiler."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from policy_server.compiled.branches import Branches
from policy_server.compiled.compiler import Compiled, Progress
from policy_server.compiled.record import Binding
from policy_server.compiled.target import Compiler


@dataclass
class FakeCompiler:
    """Counts what it compiles; `stop_at` is a Ctrl-C in the middle of that graph."""

    version: str = "1.7.1"
    card: str = "sm120"
    driver: str = ""
    name: Compiler = "tensorrt_rtx"
    stop_at: str = ""
    compiled: list[str] = field(default_factory=list)

    def compile(self, graph: Path, branches: Branches, progress: Progress) -> Compiled:
        if graph.stem == self.stop_at:
            raise KeyboardInterrupt
        self.compiled.append(graph.stem)
        binding = Binding(name="x", dtype="float32", shape=(-1, 14))
        return Compiled(f"engine of {graph.stem} for {self.card}".encode(), (binding,), (binding,))
