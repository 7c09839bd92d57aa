"""What demonstrations to make, as one TOML table; the same settings give the same data."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from contract.errors import ConfigurationError
from robot_client.twin.tasks import TASKS, Task, seen

SETTINGS_FILE = "settings.json"
TRAIN_SEEDS_FROM = 1_000_000
"""Layout seeds of demonstrations start here; evaluation uses seeds below, so no layout is in both."""


class DataSettings(BaseModel):
    """One data set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path
    size: str = "grasper"
    """Model size whose canvas is recorded."""
    episodes_per_pair: Annotated[int, Field(ge=1)] = 100
    """For each pair; which pairs may give *actions* is the training run's choice."""
    first_seed: Annotated[int, Field(ge=TRAIN_SEEDS_FROM)] = TRAIN_SEEDS_FROM
    most_noise_rad: Annotated[float, Field(ge=0.0, le=0.2)] = 0.04
    """An episode's noise is drawn evenly from 0 to this."""
    stride: Literal[1, 2, 4] = 4
    """Moments between two pictures; later latent frames are 4 moments apart, so it must divide 4."""
    anywhere: bool = False
    """Start with the hand anywhere over the table instead of parked (training.data.scatter)."""
    rotation: Annotated[int, Field(ge=0, le=3)] | None = None
    """Only the seen pairs of this rotation; None = all pairs."""
    shard_episodes: Annotated[int, Field(ge=1)] = 32

    @property
    def episodes(self) -> int:
        return self.episodes_per_pair * len(self.tasks)

    @property
    def tasks(self) -> tuple[Task, ...]:
        return TASKS if self.rotation is None else seen(self.rotation)

    @property
    def shards(self) -> int:
        return -(-self.episodes // self.shard_episodes)

    def episode(self, number: int) -> tuple[int, Task]:
        """Layout seed and task of an episode; every shard holds all pairs alike."""
        return self.first_seed + number, self.tasks[number % len(self.tasks)]

    def digest(self) -> str:
        """sha256 over everything that decides the data, so not over the folder."""
        return hashlib.sha256(self.model_dump_json(exclude={"folder"}).encode()).hexdigest()


def claim_folder(settings: DataSettings) -> None:
    """Make the folder and note its settings; raises `ConfigurationError` when it was made with others."""
    settings.folder.mkdir(parents=True, exist_ok=True)
    note = settings.folder / SETTINGS_FILE
    mine = json.loads(settings.model_dump_json(exclude={"folder"}))
    if not note.exists():
        note.write_text(json.dumps(mine, indent=1) + "\n", encoding="utf-8")
        return
    theirs = json.loads(note.read_text(encoding="utf-8"))
    differing = {key: (theirs.get(key), mine[key]) for key in mine if theirs.get(key) != mine[key]}
    if differing:
        raise ConfigurationError(
            f"data folder {settings.folder}",
            expected="demonstrations of the same settings",
            got=", ".join(f"{key} was {old}, is {new}" for key, (old, new) in differing.items()),
            remedy="choose another folder, or delete this one",
        )
