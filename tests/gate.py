"""An engine that stands still for as long as a test wants."""

from __future__ import annotations

import threading

from tests.waiting import PATIENCE_S, until


class Gate:
    """`sleep` of a `ScriptedPolicy`: a call that takes time waits inside the engine until the gate is opened."""

    def __init__(self) -> None:
        self.calls = 0
        self._opened = threading.Event()

    def __call__(self, seconds: float) -> None:
        if seconds > 0.0:
            self.calls += 1
            self._opened.wait(PATIENCE_S)

    def entered(self, calls: int = 1) -> bool:
        """Whether so many calls have come in."""
        return until(lambda: self.calls >= calls)

    def open(self) -> None:
        """Let everybody through."""
        self._opened.set()

    def shut(self) -> None:
        """The next call waits."""
        self._opened.clear()
