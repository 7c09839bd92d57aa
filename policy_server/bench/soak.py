"""`python -m policy_server.bench.soak`: a server, four robots and a flood for long: memory, fairness, answers."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import tyro

from policy_server.bench.children import child
from policy_server.bench.robots import Robot
from policy_server.bundle import read_manifest
from policy_server.percentiles import percentiles_ms
from policy_server.warm_up import neutral_observation

ROBOTS: Final = 4
SAMPLE_S: Final = 10.0
SETTLED: Final = 0.2
"""Memory is compared from this share of the run on: caches fill, allocators find their size."""
_STATM_RESIDENT: Final = 1
_PAGE_MIB: Final = 4096 / 2**20


def soak(
    bundle: Path = Path("bundles/trained-foresight"),
    minutes: float = 60.0,
    robot_hz: float = 1.0,
    flood_hz: float = 50.0,
    json_path: Path = Path("out/bench/server_soak.json"),
) -> None:
    """Serve four robots and one flooding client; exit 1 when memory grows or a robot goes without.

    Args:
        bundle: policy to serve.
        minutes: how long.
        robot_hz: questions per second of each robot.
        flood_hz: questions per second of the client that never waits for an answer.
        json_path: file for the results, with memory over time.
    """
    result = run(bundle, 60.0 * minutes, robot_hz, flood_hz)
    json_path.parent.mkdir(parents=True, exist_ok=True)
    json_path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for robot in result["robots"]:
        print(f"{robot['name']}: {robot['chunks']} chunks of {robot['sent']} questions, {robot['latency_ms']}")
    print(
        f"memory {result['rss_mib'][0][1]:.1f} -> {result['rss_mib'][-1][1]:.1f} MiB, settled growth "
        f"{result['growth_mib']:.2f} MiB; {'ok' if result['ok'] else 'NOT OK'}"
    )
    sys.exit(0 if result["ok"] else 1)


def run(bundle: Path, seconds: float, robot_hz: float, flood_hz: float, sample_s: float = SAMPLE_S) -> dict[str, Any]:
    """Results of one run."""
    asked = neutral_observation(read_manifest(bundle))
    arguments = ("serve", "--bundle", str(bundle), "--bind", "tcp://127.0.0.1:0", "--threads", "1", "--stop-with-stdin")
    with child("policy_server", *arguments) as server:
        address = server.ready_address()
        robots = [Robot(f"robot-{i}", address, asked, 1 / robot_hz) for i in range(ROBOTS)]
        flood = Robot("flood", address, asked, 1 / flood_hz, flood=True)
        stop = threading.Event()
        threads = [robot.start(stop) for robot in (*robots, flood)]
        rss = _watch(server.pid, seconds, sample_s)
        stop.set()
        for thread in threads:
            thread.join(15.0)
    return _result(robots, flood, rss, seconds)


def _watch(pid: int, seconds: float, sample_s: float) -> list[tuple[float, float]]:
    """(seconds since start, resident MiB) until the time is over."""
    start, rss = time.monotonic(), []
    while (now := time.monotonic() - start) < seconds:
        rss.append((round(now, 1), resident_mib(pid)))
        time.sleep(min(sample_s, max(0.0, seconds - now)))
    rss.append((round(time.monotonic() - start, 1), resident_mib(pid)))
    return rss


def resident_mib(pid: int) -> float:
    """Resident memory of a process."""
    statm = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return round(int(statm[_STATM_RESIDENT]) * _PAGE_MIB, 2)


def _result(robots: list[Robot], flood: Robot, rss: list[tuple[float, float]], seconds: float) -> dict[str, Any]:
    settled = [mib for at, mib in rss if at >= SETTLED * seconds] or [rss[-1][1]]
    growth = float(np.median(settled[-max(1, len(settled) // 5) :]) - np.median(settled[: max(1, len(settled) // 5)]))
    failures = [str(robot.failure) for robot in (*robots, flood) if robot.failure]
    chunks = [len(robot.latencies_ns) for robot in robots]
    return {
        "seconds": seconds,
        "robots": [_of(robot) for robot in robots],
        "flood": {"sent": flood.sent},
        "rss_mib": rss,
        "growth_mib": round(growth, 2),
        "fewest_over_most": round(min(chunks) / max(1, *chunks), 3),
        "failures": failures,
        "ok": not failures and growth < 10.0 and min(chunks) > 0.5 * max(chunks),
    }


def _of(robot: Robot) -> dict[str, Any]:
    return {
        "name": robot.name,
        "sent": robot.sent,
        "chunks": len(robot.latencies_ns),
        "other": dict(robot.other),
        "latency_ms": percentiles_ms(robot.latencies_ns) if robot.latencies_ns else {},
    }


if __name__ == "__main__":
    tyro.cli(soak)
