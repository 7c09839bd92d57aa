"""A bag that is still being written, message by message as its chunks reach the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from mcap.opcode import Opcode

from contract.errors import EpisodeError
from robot_client.clock import NS_PER_S, Clock
from robot_client.episodes.folder import data_file, episodes_in
from robot_client.episodes.mcap_file import MAGIC
from robot_client.episodes.mcap_scan import HEAD_BYTES, McapScan, plausible
from robot_client.episodes.raw_message import RawMessage

SILENT_NS: Final = 30 * NS_PER_S
"""A file that does not grow for this long is not being written any more."""
_PAUSE_S: Final = 0.1


class GrowingBag:
    """`news` again and again; `over` once the recorder has closed the file."""

    def __init__(self, file: Path) -> None:
        self._scan = McapScan(file)
        self._position = len(MAGIC)
        self.over = False

    def news(self) -> Iterator[RawMessage]:
        """Messages of the whole records that came since the last call. Raises `EpisodeError` when it cannot be read."""
        try:
            size = self._scan.path.stat().st_size
            with self._scan.path.open("rb") as file:
                while not self.over and self._position + HEAD_BYTES <= size:
                    opcode, length = self._scan.head_at(file, self._position)
                    end = self._position + HEAD_BYTES + length
                    if end > size or not plausible(opcode, length):
                        return
                    payload, position, self._position = file.read(length), self._position, end
                    self.over = opcode in (Opcode.DATA_END, Opcode.FOOTER)
                    if not self.over:
                        yield from self._scan.record(opcode, payload, position)
        except OSError as error:
            raise EpisodeError(f"{self._scan.path}", expected="a readable file", got=error.strerror) from error


def follow(path: Path, clock: Clock, wait: Callable[[float], None]) -> Iterator[list[RawMessage]]:
    """What is new, every tenth of a second, until the episode is closed or has not grown for half a minute.

    `path`: an episode being recorded, or a folder of episodes, whose newest is taken.
    """
    bag = GrowingBag(_file_of(path))
    heard_ns = clock.now_ns()
    while not bag.over and clock.now_ns() - heard_ns < SILENT_NS:
        news = list(bag.news())
        if news:
            heard_ns = clock.now_ns()
        yield news
        if not bag.over:
            wait(_PAUSE_S)


def _file_of(path: Path) -> Path:
    if path.is_file():
        return path
    folder = path if data_file(path).is_file() else next(reversed(episodes_in(path) if path.is_dir() else []), None)
    if folder is None or not data_file(folder).is_file():
        raise EpisodeError(
            f"{path}", expected="an episode being recorded", got="none", remedy="start the run with --record"
        )
    return data_file(folder)
