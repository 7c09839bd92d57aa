"""A folder of the direct peer's recorder: arrays per arm, an mp4 per camera with stamps [ms], metadata.json, a flag.

Source of names: the schema of yam-abc-reproduce, version 1. Older ones write `action-{arm}-pos` of 7 instead of
`action-{arm}-joint` and `action-{arm}-gripper`. Streams of unequal length are read as far as all of a kind go.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import EpisodeError
from contract.layout import ARMS, JOINTS_PER_ARM
from robot_client.clock import NS_PER_S
from robot_client.episodes.formats.bag_source import rate_of
from robot_client.episodes.formats.entries import Driver, Entry, Instruction, Joints, Kind, Picture
from robot_client.episodes.formats.peer_arrays import PeerArrays
from robot_client.episodes.formats.roles import role_of
from robot_client.episodes.formats.video_file import VideoFile

FLAG: Final = "write_complete.flag"
METADATA: Final = "metadata.json"
SOURCE: Final = "peer"
_KINDS: Final[tuple[Kind, ...]] = ("measured", "told")
_VIDEO: Final = re.compile(r"^(?P<camera>[a-z_]+)-images-(?P<key>[a-z]+)\.mp4$")


class PeerSource:
    """See `EpisodeSource`."""

    def __init__(self, path: Path, tolerant: bool = False) -> None:
        self.path, self.layout, self._tolerant = path, "yam-abc-reproduce", tolerant
        self._missing: tuple[str, ...] = ()
        self._meta = _read_meta(path)

    @property
    def facts(self) -> Mapping[str, str]:
        """Task and rate as metadata.json has them."""
        task = str(self._meta.get("task_name") or self._meta.get("task") or "")
        return {"instruction": task, "control_hz": str(self._meta.get("control_hz", ""))}

    @property
    def missing(self) -> tuple[str, ...]:
        """The flag, rows and frames without a partner, damaged videos."""
        return self._missing

    def cameras(self) -> Mapping[str, float]:
        """By the stamps beside the videos."""
        arrays = PeerArrays(self.path)
        stamps = {role: arrays.stamps_ns(camera) for role, (camera, _) in self._videos().items()}
        return {role: rate_of(int(ns[0]), int(ns[-1]), len(ns)) if len(ns) else 1.0 for role, ns in stamps.items()}

    def entries(self, roles: Collection[str] | None = None) -> Iterator[Entry]:
        """Raises `EpisodeError` naming the array or video that is missing or not as the schema says."""
        arrays, lines = PeerArrays(self.path), list[str]()
        if not (self.path / FLAG).is_file():
            lines.append(f"{FLAG}: the recorder was ended before it had written everything")
        videos = {role: found for role, found in self._videos().items() if roles is None or role in roles}
        vectors = {kind: arrays.vectors(kind) for kind in _KINDS}
        times_ns = self._row_times(arrays, lines)
        self._compare({**{kind: len(v) for kind, v in vectors.items()}, "times": len(times_ns)}, lines)
        streams: list[Iterator[Entry]] = [self._rows(vectors, times_ns)]
        files = {role: VideoFile(path, role) for role, (_, path) in videos.items()}
        streams += [
            self._pictures(files[role], arrays.stamps_ns(camera), lines) for role, (camera, _) in videos.items()
        ]
        yield from heapq.merge(*streams, key=lambda entry: entry.stamp_ns)
        for role, file in files.items():
            if file.trouble:
                lines.append(f"{file.path.name}: {file.trouble}")
            if file.left_over:
                what = "stamps without a frame" if file.left_over > 0 else "frames without a stamp"
                lines.append(f"camera {role}: {abs(file.left_over)} {what}")
        self._missing = tuple(lines)

    def _rows(self, vectors: Mapping[Kind, NDArray], times_ns: NDArray[np.int64]) -> Iterator[Entry]:
        count = min(len(times_ns), *(len(values) for values in vectors.values()))
        if not count:
            raise EpisodeError(f"{self.path}", expected="rows of states and actions", got="none")
        first_ns = int(times_ns[0])
        yield Driver(first_ns, "TELEOP", SOURCE)
        yield Instruction(first_ns, self.facts["instruction"])
        for i in range(count):
            for kind, values in vectors.items():
                yield Joints(int(times_ns[i]), kind, values[i])

    def _pictures(self, file: VideoFile, stamps_ns: NDArray[np.int64], lines: list[str]) -> Iterator[Picture]:
        try:
            yield from file.pictures(stamps_ns)
        except EpisodeError as error:
            if not self._tolerant:
                raise
            lines.append(f"{file.path.name}: {error}")

    def _videos(self) -> dict[str, tuple[str, Path]]:
        """Role -> the peer's camera and its file. A camera with several pictures has one role for each."""
        matches = [match for path in sorted(self.path.glob("*.mp4")) if (match := _VIDEO.match(path.name))]
        cameras = [match["camera"] for match in matches]
        return {
            role_of(m["camera"]) + ("" if cameras.count(m["camera"]) == 1 else f"_{m['key']}"): (
                m["camera"],
                self.path / m[0],
            )
            for m in matches
        }

    def _row_times(self, arrays: PeerArrays, lines: list[str]) -> NDArray[np.int64]:
        """Rows were written one for each frame of the first camera; where the counts differ, by the declared rate."""
        count, cameras = arrays.rows(), [camera for camera, _ in self._videos().values()]
        stamps = [arrays.stamps_ns(camera) for camera in cameras]
        for ns in stamps:
            if len(ns) == count:
                return ns
        rate_hz = float(self._meta.get("control_hz") or 0.0)
        if not rate_hz:
            raise EpisodeError(f"{self.path}", expected=f"control_hz in {METADATA}", got="none")
        start_ns = min((int(ns[0]) for ns in stamps if len(ns)), default=NS_PER_S)
        if stamps:
            lines.append(f"stamps of the {count} rows: no camera has as many; {rate_hz:g} Hz from the first frame on")
        return start_ns + np.rint(np.arange(count) * NS_PER_S / rate_hz).astype(np.int64)

    @staticmethod
    def _compare(lengths: Mapping[str, int], lines: list[str]) -> None:
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name} {length}" for name, length in lengths.items())
            lines.append(f"rows beyond the shortest stream: {said}")


def _read_meta(path: Path) -> dict[str, Any]:
    try:
        meta = json.loads((path / METADATA).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EpisodeError(f"{path / METADATA}", expected="JSON", got=str(error)[:100]) from error
    arms = meta.get("arm_names") or [meta.get("arm_name")]
    if sorted(map(str, arms)) != sorted(ARMS) or int(meta.get("num_arm_joints", JOINTS_PER_ARM)) != JOINTS_PER_ARM:
        raise EpisodeError(
            f"{path}",
            expected=f"arms left and right with {JOINTS_PER_ARM} joints",
            got=f"{arms} with {meta.get('num_arm_joints')}",
        )
    return dict(meta)
