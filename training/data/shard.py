"""A shard: some demonstrations as plain arrays in a folder that appears only when it is complete.

This is the training's own scratch format, memory-mapped and quick to sample; it is not for exchange between people.

    frames.npy   (F, Hc, Wc, 3) uint8, canvases of every `stride`-th moment, all episodes one after another
    joints.npy   (M, 14) float32, measured
    targets.npy  (M, 14) float32, the expert's clean row due at that moment
    phases.npy   (M,) uint8, index into `PHASES` or 255; for analysis only, never given to a policy
    episodes.json  one entry per episode: seed, task, where it starts, rows in all, rows before the way home
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError

PHASES: Final = ("approach", "grasp", "transport", "place", "retreat")
"""`robot_client.twin.judge.Phase`, written out because reading data needs no physics; a test compares them."""
UNKNOWN_PHASE: Final = 255
"""Of imported episodes: nobody saw the physics."""
ARRAYS: Final = ("frames", "joints", "targets", "phases")
EPISODES: Final = "episodes.json"


@dataclass(frozen=True, slots=True)
class EpisodeEntry:
    """One demonstration of a shard."""

    seed: int
    object: str
    receptacle: str
    start: int
    """Index of its first moment in the shard's arrays."""
    length: int
    working: int
    """Moments before the way home; later ones serve the video only."""
    tries: int
    stride: int = 1
    """Moments between two frames: layouts teach more than moments of the same layout, and pictures cost most."""
    offset: int = 0
    """The first moment that has a frame."""
    frame_start: int = 0
    """Index of that frame in `frames`."""
    instruction: str = ""
    """What was asked, of an imported episode; empty: the sentence of its object and receptacle."""

    @property
    def frames(self) -> int:
        """Number of its frames."""
        return -(-(self.length - self.offset) // self.stride)


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """One demonstration in memory; starts in `entry` count from 0."""

    entry: EpisodeEntry
    frames: NDArray[np.uint8]
    joints: NDArray[np.float32]
    targets: NDArray[np.float32]
    phases: NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """A shard on disk, arrays mapped."""

    folder: Path
    frames: NDArray[np.uint8]
    joints: NDArray[np.float32]
    targets: NDArray[np.float32]
    phases: NDArray[np.uint8]
    episodes: tuple[EpisodeEntry, ...]


def write_shard(folder: Path, recordings: Sequence[Recording]) -> None:
    """Write a complete shard in one step."""
    partial = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for name in ARRAYS:
        np.save(partial / f"{name}.npy", np.concatenate([getattr(one, name) for one in recordings]))
    entries, start, frame_start = [], 0, 0
    for one in recordings:
        entries.append({**asdict(one.entry), "start": start, "frame_start": frame_start})
        start, frame_start = start + one.entry.length, frame_start + one.entry.frames
    (partial / EPISODES).write_text(json.dumps(entries, indent=0) + "\n", encoding="utf-8")
    partial.rename(folder)


def read_shard(folder: Path) -> Shard:
    """A shard with its arrays memory-mapped. Raises `ConfigurationError` naming the file at fault."""
    try:
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ARRAYS}
        listed = json.loads((folder / EPISODES).read_text(encoding="utf-8"))
        episodes = tuple(EpisodeEntry(**entry) for entry in listed)
    except (OSError, ValueError, TypeError) as error:
        raise ConfigurationError(
            f"shard {folder}",
            expected=f"{', '.join(f'{name}.npy' for name in ARRAYS)}, {EPISODES}",
            got=str(error),
            remedy="delete this shard and run `yam-train demonstrations` again",
        ) from error
    lengths = {name: len(array) for name, array in arrays.items()}
    wanted = {name: sum(entry.length for entry in episodes) for name in ARRAYS}
    wanted["frames"] = sum(entry.frames for entry in episodes)
    if lengths != wanted:
        raise ConfigurationError(f"shard {folder}", expected=wanted, got=lengths, remedy="delete it")
    return Shard(folder, episodes=episodes, **arrays)
