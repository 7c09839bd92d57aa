"""Reports from the inference thread to the socket thread, with a file descriptor that wakes its poll."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator

from policy_server.server.reports import Report


class Outbox:
    """One side puts from any thread, the other polls `fileno()` and collects. Made by `open_outbox`."""

    def __init__(self, read_end: int, write_end: int) -> None:
        self._read_end, self._write_end = read_end, write_end
        self._reports: deque[Report] = deque()

    def fileno(self) -> int:
        """Readable when a report waits or `ring` was called."""
        return self._read_end

    @property
    def ring_descriptor(self) -> int:
        """The end that `signal.set_wakeup_fd` may write to."""
        return self._write_end

    def put(self, report: Report) -> None:
        """Leave a report and wake the reader."""
        self._reports.append(report)
        self.ring()

    def ring(self) -> None:
        """Wake the reader. A full pipe means that it is being woken already."""
        try:
            os.write(self._write_end, b"\0")
        except BlockingIOError:
            return

    def collect(self) -> Iterator[Report]:
        """Every waiting report, oldest first; clears the wake-up."""
        try:
            os.read(self._read_end, 4096)
        except BlockingIOError:
            return
        while self._reports:
            yield self._reports.popleft()

    def close(self) -> None:
        """Give the pipe back."""
        os.close(self._read_end)
        os.close(self._write_end)


def open_outbox() -> Outbox:
    """An empty outbox on a new non-blocking pipe."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    return Outbox(read_end, write_end)
