"""One episode being written: messages into chunks, chunks to the disk thread, counts per topic, the closing record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_MS, Clock
from robot_client.episodes import ballast
from robot_client.episodes.bag_metadata import RECORD, BagFile, BagTopic, bag_record, write_bag_metadata
from robot_client.episodes.channels import ChannelSpec, channel_specs, image_channel
from robot_client.episodes.chunk import ChunkBuilder, definition_records
from robot_client.episodes.disk import MOST_BYTES, Disk
from robot_client.episodes.folder import create_next, data_file
from robot_client.episodes.mcap_file import McapFile

CHUNK_NS: Final = 500 * NS_PER_MS
"""Longest time that a message stays in memory before its chunk goes to the disk."""
CHUNK_BYTES: Final = 2 * 1024 * 1024
CLOSING: Final = "closing"
"""Name of the last metadata record: whether the episode is complete, and what is missing."""
LIBRARY: Final = "yam-robot episodes 1"
_CLOSE_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Tally:
    """Messages of one topic."""

    received: int
    written: int
    lost: int


class Bag:
    """Open, add, close, once each. Nothing here waits for the disk except `close`, at most `close_s`."""

    def __init__(self, directory: Path, clock: Clock, most_bytes: int = MOST_BYTES, close_s: float = _CLOSE_S) -> None:
        self._directory, self._clock, self._most_bytes, self._close_s = directory, clock, most_bytes, close_s
        self._specs = channel_specs()
        self._definitions = definition_records(self._specs)
        self._builder = ChunkBuilder(self._definitions)
        self._received: Counter[int] = Counter()
        self._since_ns = 0
        self._folder: Path | None = None
        self._file: McapFile | None = None
        self._disk: Disk | None = None
        self._closed = False

    @property
    def folder(self) -> Path:
        """The episode's folder. Raises `EpisodeError` before `open`."""
        if self._folder is None:
            raise EpisodeError("episode", expected="an open episode", got="none", remedy="open it first")
        return self._folder

    @property
    def backlog_bytes(self) -> int:
        """Bytes that wait for the disk."""
        return 0 if self._disk is None else self._disk.backlog_bytes

    @property
    def trouble(self) -> str:
        """What the disk said; empty when all is well."""
        failure = self._disk.failure if self._disk else None
        return "" if failure is None else f"the disk failed: {failure.strerror or failure}"

    def open(self, notes: Mapping[str, Mapping[str, str]]) -> None:
        """A new folder with the next number. `notes` are its first metadata records.

        Raises `EpisodeError` when one is open already, or when folder or disk do not take it.
        """
        if self._folder is not None:
            raise EpisodeError("episode", expected="one start", got="a second", remedy=f"close {self._folder} first")
        folder = create_next(self._directory)
        file = McapFile(data_file(folder), self._specs, LIBRARY)
        try:
            ballast.take(folder)
            file.open()
        except OSError as error:
            raise EpisodeError(f"{folder}", expected="room for an episode", got=error.strerror) from error
        self._folder, self._file, self._disk = folder, file, Disk(file, self._most_bytes)
        self._disk.start()
        for name, values in notes.items():
            self._disk.note(name, values)

    def note(self, name: str, values: Mapping[str, str]) -> None:
        """A metadata record."""
        if self._disk is not None:
            self._disk.note(name, values)

    def add(self, topic: str, sequence: int, ros_ns: int, data: bytes) -> None:
        """One message. Raises `EpisodeError` for a topic that no episode has."""
        channel = (self._specs.get(topic) or self._learn(topic)).id
        self._received[channel] += 1
        if self._builder.empty:
            self._since_ns = self._clock.now_ns()
        self._builder.add(channel, sequence, ros_ns, data)
        if self._builder.size >= CHUNK_BYTES:
            self._hand_over()

    def tend(self) -> None:
        """Hand over what is old enough; call it several times a second."""
        if not self._builder.empty and self._clock.now_ns() - self._since_ns >= CHUNK_NS:
            self._hand_over()

    def tallies(self) -> dict[str, Tally]:
        """Topic -> counts; what is neither written nor lost waits for the disk."""
        written = Counter[int]() if self._file is None else self._file.counts
        lost = Counter[int]() if self._disk is None else self._disk.lost
        return {
            topic: Tally(self._received[spec.id], written[spec.id], lost[spec.id])
            for topic, spec in self._specs.items()
        }

    def close(self, missing: Mapping[str, int], reason: str = "") -> bool:
        """Write all that waits, the closing record and metadata.yaml; whether the episode is complete.

        `missing` counts what was lost before it came here; `reason` says why it ended when that was not as wanted.
        Raises `EpisodeError` when the disk does not take the rest in time or has no room for the end.
        """
        if self._disk is None or self._file is None or self._closed:
            return False
        self._closed = True
        if not self._builder.empty:
            self._hand_over()
        if not self._disk.finish(self._close_s):
            raise EpisodeError(
                f"{self.folder}",
                expected=f"a disk that takes {self.backlog_bytes / 1e6:.1f} MB within {self._close_s:g} s",
                got="not all of it; the file has no end",
                remedy="yam-robot episode recover",
            )
        ballast.release(self.folder)
        closing = self._closing(missing, self.trouble or reason)
        self._finish(self._file, closing)
        return closing["complete"] == "true"

    def _finish(self, file: McapFile, closing: Mapping[str, str]) -> None:
        counts = file.counts
        topics = [BagTopic(s.topic, s.ros_type, s.qos, counts[s.id]) for s in self._specs.values() if counts[s.id]]
        part = BagFile(file.path.name, file.start_ns, file.end_ns, counts.total())
        try:
            file.note(CLOSING, closing)
            file.note(RECORD, bag_record([part], topics, closing))
            file.finish()
        except OSError as error:
            file.close()
            raise EpisodeError(
                f"{file.path}", expected="room to close it", got=error.strerror, remedy="yam-robot episode recover"
            ) from error
        write_bag_metadata(self.folder, [part], topics, closing)

    def _closing(self, missing: Mapping[str, int], trouble: str) -> dict[str, str]:
        tallies = {topic: tally for topic, tally in self.tallies().items() if tally.received}
        lost = sum(tally.lost for tally in tallies.values()) + sum(missing.values())
        return {
            "complete": "true" if not lost and not trouble else "false",
            "trouble": trouble,
            "received": json.dumps({topic: tally.received for topic, tally in tallies.items()}),
            "written": json.dumps({topic: tally.written for topic, tally in tallies.items()}),
            "lost": json.dumps({topic: tally.lost for topic, tally in tallies.items() if tally.lost}),
            "lost_before_the_recorder": json.dumps({name: count for name, count in missing.items() if count}),
        }

    def _learn(self, topic: str) -> ChannelSpec:
        """Camera roles are the policy's and the station's; each is known when its first image comes."""
        spec = image_channel(topic, len(self._specs) + 1)
        self._specs[topic] = spec
        self._definitions.update(definition_records(self._specs))
        return spec

    def _hand_over(self) -> None:
        if self._disk is None:
            raise EpisodeError("episode", expected="an open episode", got="none", remedy="open it first")
        self._disk.put(self._builder.finish())
