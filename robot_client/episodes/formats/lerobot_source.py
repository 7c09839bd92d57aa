"""One episode of a LeRobot dataset as entries. Channels go by the names in info.json, never by their place."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from contract.errors import EpisodeError
from contract.layout import ARMS
from robot_client.clock import NS_PER_S
from robot_client.episodes.formats.entries import Driver, Entry, Instruction, Joints, Picture
from robot_client.episodes.formats.joint_names import channel_columns, checked, flat_names
from robot_client.episodes.formats.lerobot_meta import LeRobotMeta, read_table
from robot_client.episodes.formats.roles import role_of
from robot_client.episodes.formats.video_file import VideoFile
from robot_client.episodes.lerobot_frames import CONTROL, INTERVENTION
from robot_client.images import swapped

BASE_NS: Final = NS_PER_S
"""Stamp of the first frame: a dataset has no clock, and 0 would mean "no stamp" in ROS."""
SOURCE: Final = "LeRobot"
_MODES: Final = {"policy": "POLICY", "episode": "REPLAY", "external": "EXTERNAL", "unrecorded": "EXTERNAL"}
"""Control source -> mode; every other is a person's."""
_NUMBERS: Final = ("float32", "float64")
_EXACT_NS: Final = 1_000_000
"""A stamp this near to frame / fps is that: float32 does not keep more."""


class LeRobotSource:
    """See `EpisodeSource`. `meta` was read."""

    def __init__(self, meta: LeRobotMeta, number: int, tolerant: bool = False) -> None:
        self._meta, self._number, self._tolerant = meta, number, tolerant
        self.path, self.layout = Path(f"{meta.root}#{number}"), f"LeRobot {meta.version}"
        self._missing: tuple[str, ...] = ()

    @property
    def facts(self) -> Mapping[str, str]:
        """Task, robot type and declared rate."""
        info = self._meta.info
        return {
            "instruction": self._meta.task(self._number),
            "robot_type": str(info.get("robot_type", "")),
            "fps": str(info["fps"]),
        }

    @property
    def missing(self) -> tuple[str, ...]:
        """Rows and frames that the dataset declares and does not have."""
        return self._missing

    def cameras(self) -> Mapping[str, float]:
        """Every camera has the rate of the dataset."""
        return dict.fromkeys(self._keys(None), self._meta.fps)

    def entries(self, roles: Collection[str] | None = None) -> Iterator[Entry]:
        """Raises `EpisodeError` naming what is missing of names, files and columns."""
        lines: list[str] = []
        columns = {kind: self._columns(prefix) for kind, prefix in (("measured", "observation"), ("told", "action"))}
        names = sorted({name for parts in columns.values() for name, _ in parts})
        rows = self._table([*names, "timestamp", "frame_index", "task_index", CONTROL, INTERVENTION])
        vectors = {kind: self._vectors(rows, parts, kind) for kind, parts in columns.items()}
        stamps_ns = self._stamps_ns(rows)
        if len(stamps_ns) != self._meta.length(self._number):
            lines.append(f"rows: {self._meta.length(self._number)} declared, {len(stamps_ns)} there")
        streams: list[Iterator[Entry]] = [self._numbers(rows, vectors, stamps_ns)]
        streams += [self._pictures(role, key, stamps_ns, lines) for role, key in self._keys(roles).items()]
        yield from heapq.merge(*streams, key=lambda entry: entry.stamp_ns)
        self._missing = tuple(lines)

    def _keys(self, roles: Collection[str] | None) -> dict[str, str]:
        """Role -> feature of its camera."""
        found = {
            role_of(key.removeprefix("observation.images.")): key for key in self._meta.features(("video", "image"))
        }
        return {role: key for role, key in found.items() if roles is None or role in roles}

    def _columns(self, prefix: str) -> list[tuple[str, int]]:
        """Feature and place in it of each of the 14 channels: the main feature's names first, then those of others."""
        main = "observation.state" if prefix == "observation" else "action"
        features = self._meta.features(_NUMBERS)
        others = sorted(name for name in features if name != main and name.startswith((f"{prefix}.", f"{prefix}s")))
        names: list[str] = []
        places: list[tuple[str, int]] = []
        for feature in (main, *others):
            known = set(names)
            for place, name in enumerate(flat_names(features.get(feature, {}).get("names"))):
                if name not in known:
                    names.append(name)
                    places.append((feature, place))
        chosen = channel_columns(names, f"{self._meta.root}: names of {main} in meta/info.json")
        return [places[column] for column in chosen]

    def _table(self, names: list[str]) -> Any:
        path = self._meta.data_file(self._number)
        try:
            there = pq.read_schema(path).names
        except (OSError, ValueError) as error:
            raise EpisodeError(f"{path}", expected="a whole parquet file", got=str(error)[:120]) from error
        return read_table(path, [name for name in names if name in there], self._number)

    def _vectors(self, rows: Any, parts: list[tuple[str, int]], kind: str) -> NDArray[np.float64]:
        what = f"{self.path}: {kind}"
        arrays = {}
        for feature in {feature for feature, _ in parts}:
            if feature not in rows.column_names:
                raise EpisodeError(what, expected=f"column {feature}", got=", ".join(rows.column_names))
            try:
                arrays[feature] = np.array(rows[feature].to_pylist(), np.float64).reshape(len(rows), -1)
            except (ValueError, TypeError) as error:
                raise EpisodeError(what, expected=f"{feature} with rows of one width", got=str(error)[:100]) from error
        widest = {feature: max(place for name, place in parts if name == feature) for feature in arrays}
        for feature, place in widest.items():
            if len(rows) and place >= arrays[feature].shape[1]:
                raise EpisodeError(what, expected=f"{feature} as wide as its names", got=f"{arrays[feature].shape[1]}")
        return checked(np.stack([arrays[feature][:, place] for feature, place in parts], axis=1), what)

    def _stamps_ns(self, rows: Any) -> NDArray[np.int64]:
        """By the timestamps; without them by frame and rate."""
        count = len(rows)
        even_ns = np.rint(np.arange(count) * NS_PER_S / self._meta.fps).astype(np.int64)
        if "timestamp" not in rows.column_names or not count:
            return BASE_NS + even_ns
        times_s = np.array(rows["timestamp"].to_pylist(), np.float64).reshape(-1)
        if not np.isfinite(times_s).all() or (np.diff(times_s) < 0).any():
            raise EpisodeError(f"{self.path}: timestamp", expected="rising seconds", got="others")
        said_ns = np.rint((times_s - times_s[0]) * NS_PER_S).astype(np.int64)
        return BASE_NS + np.where(np.abs(said_ns - even_ns) <= _EXACT_NS, even_ns, said_ns)

    def _numbers(self, rows: Any, vectors: Mapping[str, NDArray], stamps_ns: NDArray) -> Iterator[Entry]:
        sources = rows[CONTROL].to_pylist() if CONTROL in rows.column_names else [SOURCE] * len(rows)
        tasks = rows["task_index"].to_pylist() if "task_index" in rows.column_names else []
        taken = rows[INTERVENTION].to_pylist() if INTERVENTION in rows.column_names else [[]] * len(rows)
        driver, task = None, None
        for i, stamp in enumerate(stamps_ns):
            stamp_ns = int(stamp)
            arms = tuple(arm for arm, is_taken in zip(ARMS, taken[i], strict=False) if is_taken)
            if (sources[i], arms) != driver:
                driver = (str(sources[i]), arms)
                yield Driver(stamp_ns, _MODES.get(driver[0], "TELEOP"), *driver)
            text = self._meta.task_of(int(tasks[i])) if tasks else self._meta.task(self._number)
            if text != task:
                task = text
                yield Instruction(stamp_ns, text)
            yield Joints(stamp_ns, "measured", vectors["measured"][i])
            yield Joints(stamp_ns, "told", vectors["told"][i])

    def _pictures(self, role: str, key: str, stamps_ns: NDArray, lines: list[str]) -> Iterator[Entry]:
        if self._meta.info["features"][key]["dtype"] == "image":
            yield from self._stills(role, key, stamps_ns)
            return
        video = self._meta.video(self._number, key)
        file = VideoFile(video.path, role, video.start_s, video.end_s)
        try:
            yield from file.pictures(stamps_ns)
        except EpisodeError as error:
            if not self._tolerant:
                raise
            lines.append(f"camera {role}: {error}")
        if file.trouble:
            lines.append(f"camera {role}: {file.trouble}")
        if file.left_over > 0:
            lines.append(f"camera {role}: {file.left_over} frames of {len(stamps_ns)}")

    def _stills(self, role: str, key: str, stamps_ns: NDArray) -> Iterator[Picture]:
        """Images inside the parquet file, a few rows at a time."""
        count = 0
        path = self._meta.data_file(self._number)
        for batch in pq.ParquetFile(path).iter_batches(batch_size=16, columns=[key, "episode_index"]):
            for row in batch.to_pylist():
                if row["episode_index"] == self._number and count < len(stamps_ns):
                    data = bytes(row[key]["bytes"] or b"")
                    yield Picture(int(stamps_ns[count]), role, lambda data=data: _decoded(data, key))  # type: ignore[misc]
                    count += 1


def _decoded(data: bytes, key: str) -> NDArray[np.uint8]:
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    if image is None:
        raise EpisodeError(f"an image of {key}", expected="an image file", got=f"{len(data)} bytes")
    return swapped(np.asarray(image, np.uint8))
