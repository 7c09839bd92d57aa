"""Processor time of one step of safety, at rest far from everything, moving, and where the guard has to try again.

    python -m robot_client.bench.safety --json out/bench/safety.json

Processor time of the thread, not the clock on the wall: other processes do not count.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Final

import numpy as np

from contract.layout import ARMS, index
from contract.station import load_station
from robot_client.safety.limiter import brake, limit
from robot_client.safety.limits import limits_of, seeded

_TICKS: Final = 400


def main() -> int:
    """Prints a table of median and 99th percentile."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    parser.add_argument("--station", default="yam_example")
    arguments = parser.parse_args()
    station = load_station(arguments.station)
    limits = limits_of(station.safety, 1.0 / station.timing.loop_hz)
    home = station.poses.home.vector()
    meeting = home.copy()
    for arm, side in zip(ARMS, (-1.0, 1.0), strict=True):
        meeting[index(f"{arm}_joint1")], meeting[index(f"{arm}_joint2")] = side * 1.2, 1.6
        meeting[index(f"{arm}_joint3")] = 1.3
    slow = [home + 0.1 * np.sin(tick / 60.0) for tick in range(_TICKS)]
    into = [home + (meeting - home) * min(tick / 300.0, 1.0) for tick in range(_TICKS)]
    result = {}
    for name, course in (("moving", slow), ("arms asked into each other", into), ("braking", None)):
        told, taken = seeded(home), []
        for tick in range(_TICKS):
            begun = time.thread_time_ns()
            verdict = brake(told, limits) if course is None else limit(told, course[tick], told.position, limits)
            taken.append((time.thread_time_ns() - begun) / 1e3)
            told = verdict.told
        result[name] = {"median_us": float(np.median(taken)), "p99_us": float(np.quantile(taken, 0.99))}
        print(f"{name:28} median {result[name]['median_us']:6.0f} us   99 % {result[name]['p99_us']:6.0f} us")
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
