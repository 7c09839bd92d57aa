"""All demonstrations of some data folders as one numbered sequence of moments."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError
from robot_client.twin.tasks import Task
from training.data.settings import SETTINGS_FILE
from training.data.shard import EPISODES, EpisodeEntry, Shard, read_shard

VALIDATE_EVERY = 20
"""Every so many-th demonstration is kept from training, to see what the losses are on fresh ones."""
_KEPT = f" among each {VALIDATE_EVERY}th, from the first, which are kept for validation"


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One demonstration and the shard it lies in."""

    shard: Shard
    entry: EpisodeEntry
    number: int

    @property
    def task(self) -> Task | None:
        """The pair of the twin's suite; None for anything else, which is nobody's held-out pair."""
        return Task(self.entry.object, self.entry.receptacle) if self.entry.object else None

    @property
    def instruction(self) -> str:
        """What was asked."""
        task = self.task
        return self.entry.instruction if self.entry.instruction or task is None else task.instruction

    @property
    def validation(self) -> bool:
        return self.number % VALIDATE_EVERY == 0


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Places in the library, as parallel arrays (M,): which demonstration, and which moment of it."""

    demonstration: NDArray[np.int32]
    moment: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.moment)


class Library:
    """The shards of some folders, mapped."""

    def __init__(self, folders: Sequence[Path], shards: Sequence[int] = ()) -> None:
        """`shards`: use the first so many of each folder, empty = all. Raises `ConfigurationError` for too few."""
        self.folders = tuple(folders)
        limits = shards or [0] * len(self.folders)
        self._paths = [
            path for folder, most in zip(self.folders, limits, strict=True) for path in _shards(folder, most)
        ]
        self.demonstrations: list[Demonstration] = []
        for path in self._paths:
            shard = read_shard(path)
            for entry in shard.episodes:
                self.demonstrations.append(Demonstration(shard, entry, len(self.demonstrations)))

    def moments(self, tasks: Collection[Task], working_only: bool, validation: bool, every: int = 1) -> Moments:
        """Moments with a picture of the demonstrations of `tasks` and of none of the suite's tasks.

        `working_only` leaves out the way home.

        `every`: of a demonstration with more pictures take only those so many moments apart, so that all layouts count
        alike.
        """
        which, when = [], []
        for one in self.demonstrations:
            if (one.task is None or one.task in tasks) and one.validation == validation:
                end = one.entry.working if working_only else one.entry.length
                taken = np.arange(_first(one.entry, every), end, max(one.entry.stride, every), dtype=np.int32)
                which.append(np.full(len(taken), one.number, np.int32))
                when.append(taken)
        if not which:
            raise ConfigurationError(
                f"data of {len(self.folders)} folders",
                expected="demonstrations of the asked pairs" + (_KEPT if validation else ""),
                got="none",
                remedy="make or import more of seen pairs",
            )
        return Moments(np.concatenate(which), np.concatenate(when))

    def digest(self) -> str:
        """sha256 over the settings and the list of demonstrations: names the data in a manifest."""
        digest = hashlib.sha256()
        for path in [*(f / SETTINGS_FILE for f in self.folders), *(shard / EPISODES for shard in self._paths)]:
            digest.update(path.read_bytes() if path.is_file() else b"")
        return digest.hexdigest()


def _first(entry: EpisodeEntry, every: int) -> int:
    """The first moment to take; which one is up to the episode's seed."""
    choices = max(every // entry.stride, 1)
    return entry.offset + entry.stride * int(np.random.default_rng([entry.seed, 7]).integers(choices))


def _shards(folder: Path, most: int) -> list[Path]:
    """The first `most` shard folders, 0 = all."""
    found = sorted(path for path in folder.glob("shard-*") if path.is_dir())
    if len(found) < max(most, 1):
        raise ConfigurationError(
            f"data folder {folder}",
            expected=f"{max(most, 1)} shards, shard-0000 and so on",
            got=f"{len(found)}",
            remedy="run `yam-train demonstrations`, or correct `data` in the run's file",
        )
    return found[: most or None]
