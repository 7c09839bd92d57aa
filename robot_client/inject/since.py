"""Time since engagement, told to every process of a run through a mailbox of its run directory."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from robot_client.clock import NS_PER_S
from robot_client.mailbox import MailboxReader, MailboxWriter, open_writer

_NAME: Final = "engaged.mail"
_BYTES: Final = 8


class EngagedMark:
    """Written by whoever engages."""

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / _NAME
        self._writer: MailboxWriter | None = None

    def put(self, now_ns: int) -> None:
        """The policy is engaged now."""
        if self._writer is None:
            self._writer = open_writer(self._path, _BYTES)
        self._writer.put(b"engaged.", now_ns)

    def close(self) -> None:
        """Give the mailbox up."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class Since:
    """Read by the processes that misbehave."""

    def __init__(self, run_dir: Path) -> None:
        self._reader = MailboxReader(run_dir / _NAME)

    def engagement(self) -> int:
        """Number of the newest engagement; 0 = none yet."""
        letter = self._reader.newest()
        return 0 if letter is None else letter.sequence

    def elapsed_s(self, now_ns: int) -> float | None:
        """Since the newest engagement; None before the first."""
        letter = self._reader.newest()
        return None if letter is None else (now_ns - letter.stamp_ns) / NS_PER_S

    def close(self) -> None:
        """Let go of the mailbox."""
        self._reader.close()
