"""Progress of a build, and the way out of it: a monitor that stops the compiler after Ctrl-C."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from policy_server.compiled.compiler import Progress


def build_progress(api: ModuleType, graph: str, say: Progress) -> Any:
    """A progress monitor of the library with `interrupted`. Its base class exists only once the library is loaded."""

    class BuildProgress(api.IProgressMonitor):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.interrupted = False

        def phase_start(self, phase_name: str, parent_phase: str | None, num_steps: int) -> None:
            if parent_phase is None:
                say(f"  {graph}: {phase_name}, {num_steps} steps")

        def phase_finish(self, phase_name: str) -> None:
            pass

        def step_complete(self, phase_name: str, step: int) -> bool:
            try:
                # Python runs pending signal handlers between statements, so a Ctrl-C is raised in here; it may not
                # pass through the library's own frames.
                return not self.interrupted
            except KeyboardInterrupt:
                self.interrupted = True
                return False

    return BuildProgress()
