"""Progress of a build, and the way out of it: a monitor that stops the compiler after Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from policy_server.compiled.compiler import Progress


def build_progress(api: ModuleType, graph: str, say: Progress, interrupted: threading.Event) -> Any:
    """A progress monitor of the library. Its base class exists only once the library is loaded."""

    class BuildProgress(api.IProgressMonitor):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()

        def phase_start(self, phase_name: str, parent_phase: str | None, num_steps: int) -> None:
            if parent_phase is None:
                say(f"  {graph}: {phase_name}, {num_steps} steps")

        def phase_finish(self, phase_name: str) -> None:
            pass

        def step_complete(self, phase_name: str, step: int) -> bool:
            return not interrupted.is_set()

    return BuildProgress()


@contextmanager
def interrupt_noted() -> Iterator[threading.Event]:
    """Ctrl-C inside the block sets the event, and is raised as `KeyboardInterrupt` at its end.

    An exception raised in a callback of the library is lost in the library's own frames: the build went on, or failed
    with another error. Outside of the main thread, where Python delivers no signals, nothing is changed.
    """
    noted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return

    def note(signum: int, frame: FrameType | None) -> None:
        noted.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)
        if noted.is_set():
            raise KeyboardInterrupt
