"""Room kept free on the disk, so that an episode can be closed when the disk is full."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

NAME: Final = ".room_to_close"
SIZE_BYTES: Final = 4 * 1024 * 1024
"""A summary of an hour's chunks is below 2 MB."""


def take(folder: Path) -> None:
    """Set the room aside. Raises `OSError` when there is not even that much."""
    descriptor = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.posix_fallocate(descriptor, 0, SIZE_BYTES)
    finally:
        os.close(descriptor)


def release(folder: Path) -> None:
    """Give it back; a second call changes nothing."""
    with contextlib.suppress(FileNotFoundError):
        (folder / NAME).unlink()
