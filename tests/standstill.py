"""Whether this machine gave the processes of a test their time: somebody who does nothing but look at the clock."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

LONGEST_S: Final = 0.15
"""Heartbeats and watchdogs of the processes that are tested are as long as this or longer."""
MOST_WAITING: Final = 0.8
"""Share of the time in which somebody waited for a processor; a test's own processes make some of it."""
_WATCH: Final = """
import os, sys, time
parent, longest_s = os.getppid(), float(sys.argv[1])
while os.getppid() == parent:
    begun_s = time.monotonic()
    time.sleep(0.01)
    if time.monotonic() - begun_s > longest_s:
        print(begun_s, time.monotonic(), flush=True)
"""
_PRESSURE: Final = Path("/proc/pressure/cpu")


class Witness:
    """Started once, asked after a test what it saw of it; ends with the process that started it."""

    def __init__(self) -> None:
        self._seen = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen([sys.executable, "-c", _WATCH, str(LONGEST_S)], stdout=self._seen)
        self._begun_s, self._waited_us = 0.0, 0

    def begin(self) -> None:
        """A test begins."""
        self._begun_s, self._waited_us = time.monotonic(), _waited_us()

    def trouble(self) -> str:
        """What the machine did to the test since; empty = it had its time."""
        now_s, waited_us = time.monotonic(), _waited_us() - self._waited_us
        seen = os.pread(self._seen.fileno(), 1 << 20, 0).decode()  # the witness writes at the file's own position
        gaps = [tuple(map(float, line.split())) for line in seen.splitlines()]
        stood_s = sum(end - max(begin, self._begun_s) for begin, end in gaps if end > self._begun_s)
        if stood_s > 0.0:
            return f"the machine stood still for {stood_s:.1f} s"
        share = waited_us / 1e6 / max(now_s - self._begun_s, 1e-3)
        return f"processes waited for a processor {share:.0%} of the time" if share > MOST_WAITING else ""

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._seen.close()


def _waited_us() -> int:
    """Time since the machine's start in which somebody waited for a processor [us]; 0 where nobody counts it."""
    try:
        return int(_PRESSURE.read_text().split("total=")[1].split()[0])
    except (OSError, IndexError):
        return 0
