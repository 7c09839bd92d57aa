"""The only thread that touches the disk. Blocks wait for it in a bounded backlog, so nothing else ever waits."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from typing import Final

from robot_client.episodes.chunk import RawChunk
from robot_client.episodes.mcap_file import McapFile

MOST_BYTES: Final = 64 * 1024 * 1024
"""Backlog before compression; what comes beyond it is lost, and counted."""

Work = RawChunk | tuple[str, Mapping[str, str]]


class Disk:
    """Writes chunks and metadata records of one open file in the order they come."""

    def __init__(self, file: McapFile, most_bytes: int = MOST_BYTES) -> None:
        self._file, self._most_bytes = file, most_bytes
        self._wake = threading.Condition()
        self._queue: deque[Work] = deque()
        self._bytes = 0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="disk", daemon=True)
        self.lost: Counter[int] = Counter()
        """Channel id -> messages that the disk could not take."""
        self.failure: OSError | None = None

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    @property
    def backlog_bytes(self) -> int:
        """Bytes that wait."""
        return self._bytes

    def put(self, chunk: RawChunk) -> bool:
        """Hand a chunk over; False (and counted as lost) when the backlog is full or the disk has failed."""
        with self._wake:
            if self.failure is not None or self._bytes + len(chunk.data) > self._most_bytes:
                self.lost.update(chunk.counts)
                return False
            self._queue.append(chunk)
            self._bytes += len(chunk.data)
            self._wake.notify()
            return True

    def note(self, name: str, values: Mapping[str, str]) -> None:
        """A metadata record, after what is waiting."""
        with self._wake:
            self._queue.append((name, values))
            self._wake.notify()

    def finish(self, timeout_s: float) -> bool:
        """Write what waits; False when that took too long (the thread goes on)."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (work := self._next()) is not None:
            try:
                if self.failure is None:
                    self._write(work)
                elif isinstance(work, RawChunk):
                    self.lost.update(work.counts)
            except OSError as error:
                self.failure = error
                if isinstance(work, RawChunk):
                    self.lost.update(work.counts)
            if isinstance(work, RawChunk):
                with self._wake:
                    self._bytes -= len(work.data)

    def _next(self) -> Work | None:
        with self._wake:
            while not self._queue and not self._closing:
                self._wake.wait(1.0)
            return self._queue.popleft() if self._queue else None

    def _write(self, work: Work) -> None:
        if isinstance(work, RawChunk):
            self._file.append(work.compressed())
            self._file.sync()
        else:
            self._file.note(*work)
