"""A trial whose order was shown before its end cannot go on: the operator would know too much."""

from __future__ import annotations

from pathlib import Path
from typing import Final

NAME: Final = "opened"


def is_opened(folder: Path) -> bool:
    """Whether the order of an unfinished trial was shown."""
    return (folder / NAME).exists()


def mark_opened(folder: Path) -> None:
    """From now on it was."""
    (folder / NAME).write_text("the order of this trial was shown before its end; it cannot be continued\n")
