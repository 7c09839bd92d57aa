"""What a process has cost so far, from /proc."""

from __future__ import annotations

import os
import re
from pathlib import Path


def cpu_s(pid: int) -> float:
    """CPU time that a process has used, all its threads, user and system (proc(5), fields 14 and 15)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb(pid: int | str = "self") -> float:
    """Largest resident size of a process so far (VmHWM)."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0
