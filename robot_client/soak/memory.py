"""Memory of processes over time: samples, growth, verdict."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from contract.errors import RigError

MOST_MB_PER_H: Final = 5.0
"""Growth of a process that counts as flat."""
GRAIN_MB: Final = 1.0
"""What an allocator takes and gives back by itself: in a short soak growth below this is none."""
WARM_SHARE: Final = 0.25
"""Of the time, in which caches fill; not judged."""
LEAST_SAMPLES: Final = 4


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at one process."""

    at_s: float
    rss_mb: float
    descriptors: int


def look(pid: int, at_s: float) -> Sample:
    """Resident memory and open files of a process. Raises `RigError` when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        rss_kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
        return Sample(at_s, rss_kb / 1024.0, len(os.listdir(f"/proc/{pid}/fd")))
    except (OSError, StopIteration) as error:
        raise RigError(f"process {pid}", expected="running", got="gone") from error


def judge(samples: Sequence[Sample]) -> dict[str, Any]:
    """Growth of one process by a straight line through its samples after warming up; `flat` None with too few."""
    warm = [sample for sample in samples if sample.at_s >= WARM_SHARE * samples[-1].at_s]
    result: dict[str, Any] = {
        "first_mb": round(samples[0].rss_mb, 2),
        "last_mb": round(samples[-1].rss_mb, 2),
        "descriptors": [warm[0].descriptors, warm[-1].descriptors],
        "growth_mb_per_h": None,
        "flat": None,
    }
    if len(warm) < LEAST_SAMPLES:
        return result
    hours = np.array([sample.at_s for sample in warm]) / 3600.0
    per_h = float(np.polyfit(hours, [sample.rss_mb for sample in warm], 1)[0])
    limit = max(MOST_MB_PER_H, GRAIN_MB / float(hours[-1] - hours[0]))
    more_files = warm[-1].descriptors > max(sample.descriptors for sample in warm[: len(warm) // 2])
    return {
        **result,
        "growth_mb_per_h": round(per_h, 2),
        "limit_mb_per_h": round(limit, 2),
        "flat": per_h <= limit and not more_files,
    }
