"""Where episodes lie: DIR/episode_000000, each a rosbag2 folder. Numbers come from a fresh look, not from a counter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from contract.errors import EpisodeError

_NAME: Final = re.compile(r"^episode_(\d{6,})$")
_TRIES: Final = 100


def create_next(directory: Path) -> Path:
    """A new, empty episode folder with the next free number; made anew if somebody else takes the number first.

    Raises `EpisodeError` when the folder cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for _ in range(_TRIES):
            folder = directory / f"episode_{next_number(directory):06d}"
            try:
                folder.mkdir()
                return folder
            except FileExistsError:
                continue
    except OSError as error:
        raise EpisodeError(
            f"{directory}", expected="a folder that can be written", got=error.strerror, remedy="choose another one"
        ) from error
    raise EpisodeError(f"{directory}", expected="a free number", got=f"{_TRIES} numbers taken while looking")


def next_number(directory: Path) -> int:
    """One more than the highest number there is; gaps are never filled."""
    numbers = [int(found[1]) for entry in directory.iterdir() if (found := _NAME.match(entry.name))]
    return max(numbers, default=-1) + 1


def episodes_in(directory: Path) -> list[Path]:
    """Episode folders in order of their numbers."""
    found = [(int(match[1]), entry) for entry in directory.iterdir() if (match := _NAME.match(entry.name))]
    return [entry for _, entry in sorted(found)]


def data_file(folder: Path) -> Path:
    """The first data file of an episode, named as rosbag2 names it."""
    return folder / f"{folder.name}_0.mcap"
