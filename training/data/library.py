"""All demonstrations of a data folder as one numbered sequence of moments."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
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


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One demonstration and the shard it lies in."""

    shard: Shard
    entry: EpisodeEntry
    number: int

    @property
    def task(self) -> Task:
        return Task(self.entry.object, self.entry.receptacle)

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
    """The shards of a folder, mapped."""

    def __init__(self, folder: Path, shards: int = 0) -> None:
        """`shards`: use the first so many, 0 = all. Raises `ConfigurationError` when there are fewer, or none."""
        found = sorted(path for path in folder.glob("shard-*") if path.is_dir())
        if len(found) < max(shards, 1):
            raise ConfigurationError(
                f"data folder {folder}",
                expected=f"{max(shards, 1)} shards, shard-0000 and so on",
                got=f"{len(found)}",
                remedy="run `yam-train demonstrations`, or correct `data` in the run's file",
            )
        self.folder = folder
        self.demonstrations: list[Demonstration] = []
        self._paths = found[: shards or None]
        for path in self._paths:
            shard = read_shard(path)
            for entry in shard.episodes:
                self.demonstrations.append(Demonstration(shard, entry, len(self.demonstrations)))

    def moments(self, tasks: Collection[Task], working_only: bool, validation: bool) -> Moments:
        """Every moment of the demonstrations of `tasks`; `working_only` leaves out the way home."""
        which, when = [], []
        for one in self.demonstrations:
            if one.task in tasks and one.validation == validation:
                count = one.entry.working if working_only else one.entry.length
                which.append(np.full(count, one.number, np.int32))
                when.append(np.arange(count, dtype=np.int32))
        if not which:
            raise ConfigurationError(
                f"data folder {self.folder}",
                expected="demonstrations of the asked pairs",
                got="none",
                remedy="make more",
            )
        return Moments(np.concatenate(which), np.concatenate(when))

    def digest(self) -> str:
        """sha256 over the settings and the list of demonstrations: names the data in a manifest."""
        digest = hashlib.sha256()
        for path in [self.folder / SETTINGS_FILE, *(shard / EPISODES for shard in self._paths)]:
            digest.update(path.read_bytes() if path.is_file() else b"")
        return digest.hexdigest()
