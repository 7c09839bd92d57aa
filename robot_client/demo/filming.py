"""Filming a run: the film begins with the first picture, and what goes wrong with it is said once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from numpy.typing import NDArray

from robot_client.demo.film import PANEL_PX, Film

RATE_HZ: Final = 10


class Filming:
    """A run without a film is still a run: nothing here raises when the file cannot be written. `say` prints a line."""

    def __init__(self, path: Path, say: Callable[[str], None], panel_px: int = PANEL_PX) -> None:
        self._path, self._say, self._panel_px = path, say, panel_px
        self._film: Film | None = None
        self._said = ""

    def add(self, overview: NDArray, imagined: NDArray | None, caption: str) -> None:
        """One picture (H, W, 3) uint8 RGB of the twin, with what the policy imagines beside it, `panel_px` wide."""
        if self._film is None:
            height, width = overview.shape[:2]
            self._film = Film(self._path, RATE_HZ, height, width, self._panel_px)
            self._film.open()
        self._film.add(overview, imagined, caption)
        self._say_trouble(self._film.trouble)

    def close(self) -> None:
        """The film plays afterwards."""
        if self._film is not None:
            self._film.close()
            self._say_trouble(self._film.trouble)

    def _say_trouble(self, trouble: str) -> None:
        if trouble != self._said:
            self._said = trouble
            self._say(trouble)
