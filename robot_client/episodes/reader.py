"""One reader for our own episodes and any rosbag2 (MCAP or sqlite3): folders or files, streamed in order of time."""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S
from robot_client.episodes.bag_compression import plain_file, plain_messages
from robot_client.episodes.bag_metadata import read_information
from robot_client.episodes.channels import TICK
from robot_client.episodes.mcap_scan import Damage, McapScan
from robot_client.episodes.raw_message import RawMessage
from robot_client.episodes.sqlite_scan import SqliteScan
from robot_client.episodes.topic_bag import NOTES, NOTES_WITHIN_BYTES, TickNumbers, notes_of, offset_of

REORDER_NS: Final = 2 * NS_PER_S
"""Messages are sorted within this time; senders write in batches, so files are a little out of order."""
_MOST_WAITING_BYTES: Final = 64 * 1024 * 1024
_OVERHEAD_BYTES: Final = 500
"""Of one waiting message beside its data."""
_NUMBER: Final = re.compile(r"_(\d+)\.(?:mcap|db3)(?:\.zstd)?$")
_PATTERNS: Final = ("*.mcap", "*.db3", "*.mcap.zstd", "*.db3.zstd")


class BagReader:
    """Streams messages; after the last one `damages`, `finished` and `notes` are whole.

    `tolerant`: go on after damage and report it, else raise `EpisodeError`.
    """

    def __init__(self, path: Path, tolerant: bool = False) -> None:
        self.path, self._tolerant = path, tolerant
        self.damages: list[tuple[Path, Damage]] = []
        self.finished = True
        """Every file so far was closed properly."""
        self.notes: dict[str, dict[str, str]] = {}
        """Newest metadata record of each name, so far."""

    def messages(self, topics: Collection[str] | None = None) -> Iterator[RawMessage]:
        """All messages, or those of `topics`, sorted by time within two seconds.

        In a bag that was recorded from ROS topics the messages of a tick are numbered here, as ours are in the file.
        """
        numbers = self._numbers()
        found = self._sorted(topics)
        yield from found if numbers is None else numbers.numbered(found)

    def _numbers(self) -> TickNumbers | None:
        """None for a bag whose recorder numbered them, or knew nothing of ticks."""
        offset_ns = BagReader(self.path, tolerant=True)._topic_offset_ns()
        if offset_ns is None:
            return None
        return TickNumbers(BagReader(self.path, tolerant=True)._sorted((TICK,)), offset_ns)

    def _topic_offset_ns(self) -> int | None:
        """What a run that was recorded from topics added to its clock; None for any other bag."""
        seen = 0
        with closing(self._in_file_order(None)) as messages:
            for message in messages:
                seen += len(message.data)
                if "episode" in self.notes or seen > NOTES_WITHIN_BYTES:
                    break
        return offset_of(self.notes)

    def _sorted(self, topics: Collection[str] | None) -> Iterator[RawMessage]:
        waiting: list[tuple[int, int, RawMessage]] = []
        newest_ns = size = 0
        for number, message in enumerate(self._in_file_order(topics)):
            heapq.heappush(waiting, (message.log_ns, number, message))
            newest_ns = max(newest_ns, message.log_ns)
            size += len(message.data) + _OVERHEAD_BYTES
            while waiting and (waiting[0][0] <= newest_ns - REORDER_NS or size > _MOST_WAITING_BYTES):
                oldest = heapq.heappop(waiting)[2]
                size -= len(oldest.data) + _OVERHEAD_BYTES
                yield oldest
        while waiting:
            yield heapq.heappop(waiting)[2]

    def _in_file_order(self, topics: Collection[str] | None) -> Generator[RawMessage, None, None]:
        for file in data_files(self.path):
            with plain_file(file) as plain:
                scan = SqliteScan(plain) if plain.suffix == ".db3" else McapScan(plain)
                yield from plain_messages(self.path, self._of_file(scan, topics))
            self.finished = self.finished and scan.finished
            self.damages += [(file, damage) for damage in scan.damages]

    def _of_file(self, scan: McapScan | SqliteScan, topics: Collection[str] | None) -> Iterator[RawMessage]:
        seen = 0
        wanted = None if topics is None else frozenset((*topics, NOTES)).__contains__
        for message in scan.messages(wanted):
            if scan.damages:
                self._check(scan)
            if len(scan.notes) != seen:
                seen = len(scan.notes)
                self.notes.update(scan.notes)
            if message.topic == NOTES:
                self.notes.update(notes_of(message.data))
                if topics is not None and NOTES not in topics:
                    continue
            yield message
        self.notes.update(scan.notes)
        self._check(scan)

    def _check(self, scan: McapScan | SqliteScan) -> None:
        if scan.damages and not self._tolerant:
            first = scan.damages[0]
            raise EpisodeError(
                f"{scan.path}",
                expected="a whole file",
                got=f"at byte {first.offset}: {first.what}",
                remedy="yam-robot episode recover",
            )


def data_files(path: Path) -> list[Path]:
    """The data files of a bag in their order: as metadata.yaml says if it fits what is there, else by their numbers.

    Raises `EpisodeError` when there is none.
    """
    if path.is_file():
        return [path]
    found = [file for pattern in _PATTERNS for file in path.glob(pattern)] if path.is_dir() else []
    there = sorted(found, key=lambda file: (_number(file), file.name))
    if not there:
        raise EpisodeError(
            f"{path}", expected="an .mcap or .db3 file or a folder with one", got="none", remedy="check the path"
        )
    listed = [path / name for name in _listed(path)]
    return listed if sorted(listed) == sorted(there) else there


def is_rosbag(path: Path) -> bool:
    """Whether a rosbag2 lies at `path`: a data file or a folder with some, whose messages are not protobuf."""
    files = [path] if path.is_file() else [file for pattern in _PATTERNS for file in path.glob(pattern)]
    if not files or not any(files[0].match(pattern) for pattern in _PATTERNS):
        return False
    return files[0].suffix != ".mcap" or not is_protobuf(files[0])


def is_protobuf(file: Path) -> bool:
    """By the first message that can be read."""
    first = next(McapScan(file).messages(), None)
    return first is not None and first.channel.message_encoding == "protobuf"


def _listed(folder: Path) -> list[str]:
    names = read_information(folder).get("relative_file_paths")
    return [str(name) for name in names] if isinstance(names, list) else []


def _number(file: Path) -> int:
    found = _NUMBER.search(file.name)
    return int(found[1]) if found else -1
