"""Drawing in the background: the library loads while the run goes on, and a chart that takes too long is left out."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from types import ModuleType
from typing import Final

LONGEST_S: Final = 60.0
LEFT_OUT: Final = "<p>Not drawn: there was no time left for it.</p>"
Draw = Callable[[ModuleType], str]
"""Draws one chart with the functions of `robot_client.demo.charts`."""


class Drawing:
    """A thread of its own, which ends with the process. `patience_s()` is how long somebody waits for the page."""

    def __init__(self, patience_s: Callable[[], float] = lambda: math.inf) -> None:
        self._patience_s = patience_s
        self._wanted: queue.SimpleQueue[tuple[Draw, Future[str]]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="drawing", daemon=True)

    def start(self) -> None:
        """Load the library; a second call changes nothing."""
        if self._thread.ident is None:
            self._wanted.put((lambda charts: "", Future()))
            self._thread.start()

    def ask(self, draw: Draw) -> Future[str]:
        """Have a chart drawn, after those that were asked for before; `drawn` gives it."""
        self.start()
        chart: Future[str] = Future()
        self._wanted.put((draw, chart))
        return chart

    def drawn(self, chart: Future[str]) -> str:
        """The chart as HTML, or a line that says it was left out. Raises what drawing it raised."""
        done, _ = wait([chart], min(LONGEST_S, self._patience_s()))
        return chart.result() if done else LEFT_OUT

    def chart(self, draw: Draw) -> str:
        """`ask` and `drawn` in one."""
        return self.drawn(self.ask(draw))

    def _work(self) -> None:
        while True:
            draw, future = self._wanted.get()
            try:
                from robot_client.demo import charts

                future.set_result(draw(charts))
            except Exception as error:  # the outermost of this thread: raised again by whoever asked
                future.set_exception(error)
