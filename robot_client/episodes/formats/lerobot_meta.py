"""What a LeRobot dataset says of itself: v3.0 (many episodes a file) and v2.0 or v2.1 (one file an episode)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from contract.errors import EpisodeError

INFO: Final = Path("meta") / "info.json"
_VERSIONS: Final = ("v2.0", "v2.1", "v3.0")


@dataclass(frozen=True, slots=True)
class Video:
    """Where an episode's video of one feature lies: file, and its time in it [s]."""

    path: Path
    start_s: float
    end_s: float


class LeRobotMeta:
    """`read` once. Raises `EpisodeError` for another version and for files that are not there or not whole."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.info: dict[str, Any] = {}
        self._episodes: dict[int, Mapping[str, Any]] = {}
        self._tasks: dict[int, str] = {}

    def read(self) -> None:
        """info, episodes and tasks."""
        self.info = _json(self.root / INFO)
        if self.version not in _VERSIONS:
            raise EpisodeError(f"{self.root / INFO}", expected=f"codebase_version {_VERSIONS}", got=self.version)
        for key in ("fps", "features", "data_path"):
            if not self.info.get(key):
                raise EpisodeError(f"{self.root / INFO}", expected=f"{key}", got="none")
        rows = self._rows("episodes")
        self._episodes = {int(row["episode_index"]): row for row in rows}
        self._tasks = {int(row["task_index"]): str(row["task"]) for row in self._rows("tasks")}

    @property
    def version(self) -> str:
        """codebase_version"""
        return str(self.info.get("codebase_version", "none"))

    @property
    def fps(self) -> float:
        """Frames per second, as declared."""
        return float(self.info["fps"])

    @property
    def numbers(self) -> list[int]:
        """Of all episodes."""
        return sorted(self._episodes)

    def features(self, dtypes: tuple[str, ...]) -> dict[str, Mapping[str, Any]]:
        """Features of these types by name."""
        return {name: f for name, f in self.info["features"].items() if f.get("dtype") in dtypes}

    def length(self, number: int) -> int:
        """Frames of an episode, as declared."""
        return int(self._episodes[number]["length"])

    def task(self, number: int) -> str:
        """The episode's first task."""
        tasks = self._episodes[number].get("tasks") or []
        return str(tasks[0]) if len(tasks) else ""

    def task_of(self, index: int) -> str:
        """The task with this index; empty when there is none."""
        return self._tasks.get(index, "")

    def data_file(self, number: int) -> Path:
        """The parquet file that has the episode's rows."""
        return self.root / self.info["data_path"].format(**self._place(number, "data"))

    def video(self, number: int, key: str) -> Video:
        """Where the episode is in the video of feature `key`."""
        place = self._place(number, f"videos/{key}")
        path = self.root / self.info["video_path"].format(video_key=key, **place)
        row = self._episodes[number]
        start_s = float(row.get(f"videos/{key}/from_timestamp") or 0.0)
        end_s = float(row.get(f"videos/{key}/to_timestamp") or float("inf"))
        return Video(path, start_s, end_s)

    def _place(self, number: int, what: str) -> dict[str, int]:
        row, per_chunk = self._episodes[number], int(self.info.get("chunks_size") or 1000)
        return {
            "episode_index": number,
            "episode_chunk": number // per_chunk,
            "chunk_index": int(row.get(f"{what}/chunk_index") or 0),
            "file_index": int(row.get(f"{what}/file_index") or 0),
        }

    def _rows(self, what: str) -> list[Mapping[str, Any]]:
        meta = self.root / "meta"
        if self.version != "v3.0":
            lines = _text(meta / f"{what}.jsonl").splitlines()
            return [_parsed(line, meta / f"{what}.jsonl") for line in lines if line.strip()]
        files = sorted((meta / "episodes").glob("*/*.parquet")) if what == "episodes" else [meta / "tasks.parquet"]
        rows = [row for file in files for row in read_table(file).to_pylist()]
        return [{"task": row.get("__index_level_0__"), **row} for row in rows] if what == "tasks" else rows


def read_table(path: Path, columns: list[str] | None = None, number: int | None = None) -> pa.Table:
    """A parquet file, or the rows of one episode in it. Raises `EpisodeError` when it is not there or not whole."""
    filters = None if number is None else [("episode_index", "==", number)]
    try:
        return pq.ParquetFile(path).read() if filters is None else pq.read_table(path, columns=columns, filters=filters)
    except (OSError, pa.ArrowException) as error:
        raise EpisodeError(f"{path}", expected="a whole parquet file", got=str(error).splitlines()[0][:120]) from error


def _json(path: Path) -> dict[str, Any]:
    return _parsed(_text(path), path)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EpisodeError(f"{path}", expected="a text file", got=str(error)[:100]) from error


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise EpisodeError(f"{path}", expected="JSON", got=str(error)[:100]) from error
    if not isinstance(found, dict):
        raise EpisodeError(f"{path}", expected="a JSON object", got=type(found).__name__)
    return found
