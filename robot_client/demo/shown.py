"""Showing a run: the live screen on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from rich.console import Console
from rich.live import Live

from robot_client.demo.view import Seen, line, screen

LINE_S: Final = 2.0
"""Between two lines where there is no terminal."""


class Shown:
    """A context; what it gives shows the newest state when called."""

    def __init__(self, console: Console, seen: Seen, live: bool) -> None:
        self._console, self._seen = console, seen
        self._live = Live(console=console, auto_refresh=False, transient=False) if live else None
        self._next_line_s = 0.0
        self._failure = ""

    def __enter__(self) -> Callable[[], None]:
        if self._live is not None:
            self._live.__enter__()
        return self._show

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.__exit__(*error)  # type: ignore[arg-type]

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(screen(self._seen), refresh=True)
        elif time.monotonic() >= self._next_line_s:
            self._next_line_s = time.monotonic() + LINE_S
            self._console.print(line(self._seen), highlight=False, soft_wrap=True)
            if self._seen.failure != self._failure:
                self._failure = self._seen.failure
                self._console.print(f"         last failure: {self._failure}", highlight=False, soft_wrap=True)
