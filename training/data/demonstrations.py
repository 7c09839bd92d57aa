"""Making all demonstrations of some settings, shard by shard, on several processes; what is there is not made again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from contract.errors import ConfigurationError
from training.data.settings import DataSettings, claim_folder
from training.data.shard import Recording, write_shard
from training.progress import Progress

_BYTES_PER_EPISODE = 75 * 64 * 96 * 3


def make_demonstrations(settings: DataSettings, workers: int, say: Callable[[str], None] = print) -> Path:
    """Make every shard that is missing. Raises `ConfigurationError` when settings clash or the disk is too small."""
    claim_folder(settings)
    missing = [number for number in range(settings.shards) if not shard_folder(settings.folder, number).exists()]
    _require_room(settings, len(missing))
    progress = Progress(settings.shards, done=settings.shards - len(missing), what="shards", say=say)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(make_shard, settings, number) for number in missing]
        for future in as_completed(futures):
            failed = future.result()
            progress.step(f"{failed} demonstrations failed" if failed else "")
    return settings.folder


def shard_folder(folder: Path, number: int) -> Path:
    """Where shard `number` lies."""
    return folder / f"shard-{number:04d}"


def make_shard(settings: DataSettings, number: int) -> int:
    """Make one shard; returns how many of its demonstrations the expert did not manage, which are left out.

    `robot_client.twin.gl.choose()` has run in the process that started this one.
    """
    from policy_server.model.presets import preset
    from robot_client.twin.cameras import Size
    from robot_client.twin.twin import make_twin
    from training.data.recorder import record

    canvas = preset(settings.size).canvas
    twin = make_twin({view.role: Size(view.width, view.height) for view in canvas.views})
    numbers = list(_numbers(settings, number))
    kept: list[Recording] = []
    for episode in numbers:
        seed, task = settings.episode(episode)
        noise = float(np.random.default_rng([seed, 4]).uniform(0.0, settings.most_noise_rad))
        recording = record(twin, canvas, seed, task, noise, settings.stride, settings.anywhere)
        if recording is not None:
            kept.append(recording)
    twin.close()
    write_shard(shard_folder(settings.folder, number), kept)
    return len(numbers) - len(kept)


def _numbers(settings: DataSettings, shard: int) -> Iterator[int]:
    first = shard * settings.shard_episodes
    yield from range(first, min(first + settings.shard_episodes, settings.episodes))


def _require_room(settings: DataSettings, shards: int) -> None:
    needed = shards * settings.shard_episodes * _BYTES_PER_EPISODE
    free = shutil.disk_usage(settings.folder).free
    if free < 1.2 * needed:
        raise ConfigurationError(
            f"disk of {settings.folder}",
            expected=f"{1.2 * needed / 1e9:.1f} GB free",
            got=f"{free / 1e9:.1f} GB",
            remedy="free some space or choose another folder",
        )
