"""`yam-robot soak`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def soak(
    minutes: float = 60.0,
    bundle: Path | None = None,
    instruction: str = "put the red cube in the bin",
    json: Path = Path("out/bench/soak.json"),
) -> None:
    """Drive the ideal rig for a long time and watch the memory of every process; exit code 1 when one grows.

    Args:
        minutes: how long.
        bundle: folder of a policy to serve; without one a scripted server answers.
        instruction: what the policy is told.
        json: file for the results.
    """
    from robot_client.soak.soak import soak as run

    result = run(json, minutes, bundle, instruction, lambda line: print(line, flush=True))
    for name, process in result["processes"].items():
        print(_line(name, process))
    verdict = {True: "flat", False: "NOT flat", None: "too short to judge"}[result["flat"]]
    print(f"memory over {minutes:g} min: {verdict}; {result['ticks']} ticks, {result['holds']} holds; {json}")
    sys.exit(1 if result["flat"] is False else 0)


def _line(name: str, process: dict[str, Any]) -> str:
    files = process["descriptors"]
    return (
        f"{name:<11} {process['first_mb']:7.1f} -> {process['last_mb']:7.1f} MB, "
        f"{process['growth_mb_per_h']} MB/h after warming up, open files {files[0]} -> {files[1]}"
    )
