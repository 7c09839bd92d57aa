"""Writes a LeRobot v3 dataset: parquet for numbers, H.264 for images, one file of each per episode.

Layout and columns are those of LeRobotDataset v3.0: `meta/info.json`, `meta/tasks.parquet`, `meta/episodes`,
`meta/stats.json`, `data`, `videos`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from contract.errors import EpisodeError
from contract.layout import ARMS, CHANNELS
from robot_client.episodes.lerobot_frames import ACTION, CONTROL, INTERVENTION, SCALARS, STATE, Frames
from robot_client.episodes.samples import Sample
from robot_client.episodes.video import Video, video_feature

PER_CHUNK: Final = 1000
"""Files in one folder."""
_PLACE: Final = "chunk-{chunk_index:03d}/file-{file_index:03d}"
_VECTORS: Final = (STATE, ACTION)


class LeRobotWriter:
    """`open`, then `add` each sample of an episode and `end_episode`, then `close`. Never writes into what exists."""

    def __init__(self, root: Path, rate_hz: float, robot_type: str) -> None:
        self._root, self._rate, self._robot_type = root, Fraction(rate_hz).limit_denominator(1000), robot_type
        self._tasks: dict[str, int] = {}
        self._episodes: list[dict[str, Any]] = []
        self._shapes: dict[str, tuple[int, int]] = {}
        self._videos: dict[str, Video] = {}
        self._frames = Frames()
        self._sums: dict[str, list[NDArray]] = {name: [] for name in _VECTORS}
        self._total = 0

    def open(self) -> None:
        """Raises `EpisodeError` when the folder is there already."""
        try:
            self._root.mkdir(parents=True)
        except OSError as error:
            raise EpisodeError(f"{self._root}", expected="a new folder", got=error.strerror) from error

    def add(self, sample: Sample) -> None:
        """One frame of the episode in progress."""
        self._frames.add(sample, self._tasks.setdefault(sample.instruction, len(self._tasks)))
        for role, image in sample.images.items():
            if role not in self._videos:
                self._videos[role] = self._video(role, image.shape[0], image.shape[1])
            self._videos[role].add(image)

    def end_episode(self) -> int:
        """Close the episode; its number of frames. An episode without a frame leaves nothing behind."""
        length, number = len(self._frames), len(self._episodes)
        if length == 0:
            return 0
        for video in self._videos.values():
            video.close()
        self._write_data(number)
        self._episodes.append(self._episode_row(number, length))
        self._total += length
        self._frames, self._videos = Frames(), {}
        return length

    def close(self) -> None:
        """The files that describe the others. Raises `EpisodeError` when there is no episode."""
        if not self._episodes:
            raise EpisodeError(f"{self._root}", expected="an episode with frames", got="none", remedy="see info")
        meta = self._root / "meta"
        (meta / "episodes" / "chunk-000").mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(self._episodes), meta / "episodes" / "chunk-000" / "file-000.parquet")
        pq.write_table(_tasks_table(self._tasks), meta / "tasks.parquet")
        _write_json(meta / "info.json", self._info())
        _write_json(meta / "stats.json", {name: _stats(np.concatenate(self._sums[name])) for name in _VECTORS})

    def _video(self, role: str, height: int, width: int) -> Video:
        shape = (height - height % 2, width - width % 2)
        if self._shapes.setdefault(role, shape) != shape:
            raise EpisodeError(
                f"images of {role}", expected=self._shapes[role], got=shape, remedy="export such episodes apart"
            )
        place = _place(len(self._episodes))
        path = self._root / "videos" / f"observation.images.{role}" / f"{_PLACE.format(**place)}.mp4"
        return Video(path, self._rate, *shape)

    def _write_data(self, number: int) -> None:
        for name, values in self._frames.vectors().items():
            self._sums[name].append(values)
        path = self._root / "data" / f"{_PLACE.format(**_place(number))}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(self._frames.table(float(self._rate), number, self._total), path)

    def _episode_row(self, number: int, length: int) -> dict[str, Any]:
        place = _place(number)
        row: dict[str, Any] = {
            "episode_index": number,
            "tasks": [task for task, index in self._tasks.items() if index in self._frames.tasks],
            "length": length,
            "dataset_from_index": self._total,
            "dataset_to_index": self._total + length,
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
            **{f"data/{key}": value for key, value in place.items()},
        }
        for role in self._shapes:
            key = f"videos/observation.images.{role}"
            row |= {f"{key}/{name}": value for name, value in place.items()}
            row |= {f"{key}/from_timestamp": 0.0, f"{key}/to_timestamp": length / float(self._rate)}
        return row

    def _info(self) -> dict[str, Any]:
        rate = float(self._rate)
        vector = {"dtype": "float32", "shape": [len(CHANNELS)], "names": list(CHANNELS)}
        features: dict[str, Any] = dict.fromkeys(_VECTORS, vector)
        for role, (height, width) in self._shapes.items():
            features[f"observation.images.{role}"] = video_feature(height, width, rate)
        features[CONTROL] = {"dtype": "string", "shape": [1], "names": None}
        features[INTERVENTION] = {"dtype": "bool", "shape": [len(ARMS)], "names": list(ARMS)}
        features |= {name: {"dtype": kind, "shape": [1], "names": None} for name, (kind, _) in SCALARS.items()}
        return {
            "codebase_version": "v3.0",
            "robot_type": self._robot_type,
            "total_episodes": len(self._episodes),
            "total_frames": self._total,
            "total_tasks": len(self._tasks),
            "chunks_size": PER_CHUNK,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": int(rate) if rate == int(rate) else rate,
            "splits": {"train": f"0:{len(self._episodes)}"},
            "data_path": f"data/{_PLACE}.parquet",
            "video_path": f"videos/{{video_key}}/{_PLACE}.mp4",
            "features": features,
        }


def _place(number: int) -> dict[str, int]:
    return {"chunk_index": number // PER_CHUNK, "file_index": number % PER_CHUNK}


def _tasks_table(tasks: Mapping[str, int]) -> pa.Table:
    """The task is the index of the frame that pandas reads from it."""
    table = pa.table({"task_index": pa.array(list(tasks.values())), "task": pa.array(list(tasks))})
    columns = [_pandas_column("task_index", "int64", "int64"), _pandas_column("task", "unicode", "object")]
    pandas = {"index_columns": ["task"], "column_indexes": [], "columns": columns, "pandas_version": "2.2.0"}
    return table.replace_schema_metadata({"pandas": json.dumps(pandas)})


def _pandas_column(name: str, kind: str, numpy_type: str) -> dict[str, Any]:
    return {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy_type, "metadata": None}


def _stats(values: NDArray) -> dict[str, list]:
    values = values.astype(np.float64)
    found = {"min": values.min(0), "max": values.max(0), "mean": values.mean(0), "std": values.std(0)}
    return {**{name: [float(v) for v in vector] for name, vector in found.items()}, "count": [len(values)]}


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
