"""Ctrl-C that is safe at every moment of a run."""

from __future__ import annotations

import math
import signal
import time
from types import FrameType, TracebackType
from typing import Final

STOPS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGTSTP)
"""What a person may press or send to stop. Ctrl-Z among them: obeyed as it is elsewhere, it would stop only whoever
looks after the arms, and neither the arms nor, from then on, answer Ctrl-C."""


class Interrupt:
    """Between `starting` and `running` one of `STOPS` breaks off at once; before and after it only sets `asked`.

    A second signal changes nothing: the end is bounded by itself, and cut short it would leave the arms on their way.
    """

    def __init__(self) -> None:
        self.asked = False
        self.asked_s = math.inf
        """When the first signal came (monotonic)."""
        self._raises = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupt:
        for number in STOPS:
            self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def starting(self) -> None:
        """From here on a signal raises KeyboardInterrupt; one that came before does so now. For inside the `try`."""
        self._raises = True
        if self.asked:
            self._raises = False
            raise KeyboardInterrupt

    def running(self) -> None:
        """From here on a signal is a request, read by whoever looks at `asked`."""
        self._raises = False

    def ask(self) -> None:
        """As a signal would, while `running`: a person pressed the key that ends the run."""
        if not self.asked:
            self.asked, self.asked_s = True, time.monotonic()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.ask()
        if self._raises:
            self._raises = False
            raise KeyboardInterrupt
