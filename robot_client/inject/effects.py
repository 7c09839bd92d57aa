"""Which faults have taken effect in this process, told to the supervisor through a mailbox of the run directory.

A value is one int64 for each fault of the text, in its order: when it began in the newest engagement [ns, monotonic
clock], 0 = not yet. Writing it is a write to memory, so that it may be done in a control step.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from robot_client.clock import NS_PER_S
from robot_client.inject.fault import Fault
from robot_client.mailbox import MailboxReader, MailboxWriter, open_writer

_PATTERN: Final = "injected.*.mail"


class Effects:
    """Of one process and one `part` of it. Says nothing before `open`."""

    def __init__(self, run_dir: Path, part: str, faults: Sequence[Fault]) -> None:
        self._path = run_dir / _PATTERN.replace("*", f"{part}-{os.getpid()}")
        self._places = {fault.text: place for place, fault in enumerate(faults)}
        self._begun_ns = np.zeros(len(faults), "<i8")
        self._engagements = [0] * len(faults)
        self._writer: MailboxWriter | None = None

    def open(self) -> None:
        """Make the mailbox, before the first step. Harmless when it is there."""
        if self._writer is None:
            self._writer = open_writer(self._path, self._begun_ns.nbytes)

    def happens(self, fault: Fault, engagement: int, now_ns: int) -> None:
        """Call it whenever a fault acts; only its first time in an engagement is news."""
        place = self._places[fault.text]
        if self._engagements[place] == engagement:
            return
        self._engagements[place], self._begun_ns[place] = engagement, now_ns
        if self._writer is not None:
            self._writer.put(self._begun_ns.data, now_ns)

    def close(self) -> None:
        """Give the mailbox up."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class EffectsSeen:
    """The supervisor's side: every process of the run."""

    def __init__(self, run_dir: Path, faults: Sequence[Fault]) -> None:
        self._run_dir, self._faults = run_dir, faults
        self._readers: dict[Path, MailboxReader] = {}
        self._said_ns = [0] * len(faults)

    def news(self, engaged_ns: int) -> list[str]:
        """A line for each fault that has taken effect since the engagement at `engaged_ns` and was not told yet."""
        for path in self._run_dir.glob(_PATTERN):
            self._readers.setdefault(path, MailboxReader(path))
        letters = [letter for reader in self._readers.values() if (letter := reader.newest()) is not None]
        lines = []
        for place, fault in enumerate(self._faults):
            begun = [int(np.frombuffer(letter.payload, "<i8")[place]) for letter in letters]
            first_ns = min((at_ns for at_ns in begun if at_ns >= engaged_ns), default=0)
            if first_ns and self._said_ns[place] < engaged_ns:
                self._said_ns[place] = first_ns
                lines.append(line_of(fault, (first_ns - engaged_ns) / NS_PER_S))
        return lines

    def close(self) -> None:
        """Let go of the mailboxes."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()


def line_of(fault: Fault, elapsed_s: float) -> str:
    """For people: what, and when."""
    return f"injected: {fault.text}, {elapsed_s:.2f} s after engagement"
