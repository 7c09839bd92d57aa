"""Recorded episodes of any layout as training data: LeRobot, ABC-130k, rosbag2, ours. Names decide, never positions.

At each tenth of a second the newest of everything there was, by the very rule that the planner asks by
(`robot_client.newest`), so a policy is trained on what it will be shown. Only stretches in which somebody drove count.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.architecture import Canvas
from contract.errors import ConfigurationError, EpisodeError, VocabularyError
from policy_server.canvas import CanvasTiler
from policy_server.model.presets import preset
from robot_client.episodes.formats.base import EpisodeSource
from robot_client.episodes.formats.choose import episodes_at
from robot_client.episodes.samples import Sample, Sampler
from robot_client.images import fit
from robot_client.twin.tasks import parse
from training.data.settings import SETTINGS_FILE
from training.data.shard import UNKNOWN_PHASE, EpisodeEntry, Recording, write_shard
from training.progress import Progress

_PER_SHARD: Final = 16
_LEAST_ROWS: Final = 8
"""Shorter stretches teach nothing: not even half a chunk of rows."""
_SPARE: Final = 1.2


def import_episodes(
    paths: Sequence[Path], folder: Path, size: str, stride: int = 1, say: Callable[[str], None] = print
) -> Path:
    """Write the episodes at `paths` as shards for model `size`; shards that are there are not made again.

    `stride`: tenths of a second between two pictures (1, 2 or 4; a Wan latent needs 1). Raises `EpisodeError` or
    `ConfigurationError` for a layout that nobody knows, a camera that is not there, and a disk that is too small,
    before anything is written.
    """
    config = preset(size)
    sources = [source for path in paths for source in episodes_at(path)]
    for source in sources:
        require_cameras(source, config.canvas)
    folder.mkdir(parents=True, exist_ok=True)
    _claim(folder, {"imported": [str(source.path) for source in sources], "size": size, "stride": stride})
    groups = [sources[first : first + _PER_SHARD] for first in range(0, len(sources), _PER_SHARD)]
    progress = Progress(len(sources), what="episodes", say=say)
    for number, group in enumerate(groups):
        shard = folder / f"shard-{number:04d}"
        if not shard.exists():
            first = number * _PER_SHARD
            recordings = [
                one
                for place, source in enumerate(group)
                for one in recordings_of(source, config.canvas, config.latent.frame_rate_hz, stride, first + place)
            ]
            if recordings:
                _require_room(folder, recordings, len(groups) - number)
                write_shard(shard, recordings)
        progress.step(count=len(group))
    return folder


def require_cameras(source: EpisodeSource, canvas: Canvas) -> None:
    """Raises `EpisodeError` naming the camera that the model looks through and the episode does not have."""
    there = source.cameras()
    lacking = [view.role for view in canvas.views if view.role not in there]
    if lacking:
        raise EpisodeError(
            f"{source.path}",
            expected=f"cameras {', '.join(view.role for view in canvas.views)}",
            got=f"{', '.join(there) or 'none'}; no {', '.join(lacking)}",
            remedy="record with that camera, or train a size that does without it",
        )


def recordings_of(
    source: EpisodeSource, canvas: Canvas, rate_hz: float, stride: int, number: int
) -> Iterator[Recording]:
    """Every stretch of one episode that was driven under one instruction."""
    stretch: list[Sample] = []
    for sample in Sampler(source, [view.role for view in canvas.views], rate_hz).samples():
        if stretch and (sample.stretch, sample.instruction) != (stretch[-1].stretch, stretch[-1].instruction):
            yield from _recording(stretch, canvas, stride, number)
            stretch = []
        stretch.append(sample)
    yield from _recording(stretch, canvas, stride, number)


def _recording(stretch: Sequence[Sample], canvas: Canvas, stride: int, number: int) -> Iterator[Recording]:
    if len(stretch) < _LEAST_ROWS:
        return
    said, length = stretch[0].instruction, len(stretch)
    thing, place = _pair(said)
    yield Recording(
        EpisodeEntry(number, thing, place, 0, length, length, tries=1, stride=stride, instruction=said),
        np.stack([_tiled(sample, canvas) for sample in stretch[::stride]]),
        np.stack([sample.state for sample in stretch]).astype(np.float32),
        np.stack([sample.action for sample in stretch]).astype(np.float32),
        np.full(length, UNKNOWN_PHASE, np.uint8),
    )


def _tiled(sample: Sample, canvas: Canvas) -> NDArray[np.uint8]:
    """The canvas (Hc, Wc, 3), every image fitted to its view as the planner fits it."""
    tiler = CanvasTiler(canvas)
    tiler.fill({view.role: fit(sample.images[view.role], view.height, view.width) for view in canvas.views})
    return tiler.pixels[0].copy()


def _pair(instruction: str) -> tuple[str, str]:
    """Object and receptacle when the twin's suite has this task, so that its held-out pairs stay held out."""
    try:
        task = parse(instruction)
    except VocabularyError:
        return "", ""
    return task.object, task.receptacle


def _claim(folder: Path, facts: dict[str, object]) -> None:
    note = folder / SETTINGS_FILE
    if note.exists() and json.loads(note.read_text(encoding="utf-8")) != facts:
        raise ConfigurationError(
            f"data folder {folder}",
            expected="the same episodes, size and stride",
            got="others",
            remedy="choose another folder, or delete this one",
        )
    note.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _require_room(folder: Path, recordings: Sequence[Recording], shards: int) -> None:
    """By the first shards, what all that are left will take."""
    needed = _SPARE * shards * sum(one.frames.nbytes + one.joints.nbytes + one.targets.nbytes for one in recordings)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ConfigurationError(
            f"disk of {folder}",
            expected=f"about {needed / 1e9:.2f} GB free",
            got=f"{free / 1e9:.2f} GB",
            remedy="free some space, choose another folder, or a larger stride",
        )
