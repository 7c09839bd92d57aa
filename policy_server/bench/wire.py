"""`yam-policy bench wire`: what a replan costs outside the engine, against the bare transport of the same bytes."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from pathlib import Path
from typing import Any, Final

import numpy as np
import zmq

from policy_server.bench.children import Child, child
from policy_server.bench.floor import Floor
from policy_server.bench.masses import masses_share
from policy_server.bench.percentiles import percentiles_ms

BLOCK: Final = 5
"""Rounds of one kind before the next kind has its turn."""
ROLES: Final = ("top", "left_wrist", "right_wrist")
_DEFINITION: Final = (
    "stack: camera buffers -> observation -> encode -> send -> receive -> decode -> check -> canvas -> noise, flow, "
    "TR, guidance -> answer -> decode -> check, less engine calls. floor: np.copyto of the images into new arrays on "
    "each side and a bare DEALER/ROUTER echo of the same bytes. floor_reusing: the same into arrays that are kept."
)


def bench_wire(out: Path, rounds: int, bundle: Path) -> dict[str, Any]:
    """Measure, print a summary, write `out` and return what was written. Raises `ConfigurationError` when a process of
    the benchmark does not answer."""
    result = {**_measure(rounds), **masses_share(bundle, rounds), "machine": _machine()}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=2) + "\n")
    for line in _summary(result, out):
        print(line)
    return result


def _measure(rounds: int) -> dict[str, Any]:
    with (
        child("policy_server.bench.stack_server") as server,
        child("policy_server.bench.echo_server") as echo,
        child("robot_client.link.bench_peer", "--server", server.ready_address(), "--roles", *ROLES) as peer,
    ):
        sizes = peer.json_line()
        floor = Floor(echo.ready_address(), sizes["request_sizes"], sizes["reply_sizes"], sizes["image_bytes"])
        warm_up = max(BLOCK, rounds // 10)
        _run(floor, peer, warm_up)
        fresh, reusing, samples = _run(floor, peer, rounds)
        floor.close()
    stack = [sample["whole_ns"] - sample["engine_ns"] for sample in samples]
    return {
        "definition": _DEFINITION,
        "rounds": len(stack),
        "warm_up_rounds": warm_up,
        "request_bytes": sum(sizes["request_sizes"]),
        "reply_bytes": sum(sizes["reply_sizes"]),
        "stack_ms": percentiles_ms(stack),
        "floor_ms": percentiles_ms(fresh),
        "floor_reusing_ms": percentiles_ms(reusing),
        "engine_ms": percentiles_ms([sample["engine_ns"] for sample in samples]),
        "pipeline_ms": percentiles_ms([sample["server_ns"] - sample["engine_ns"] for sample in samples]),
        "replans_by_branches": dict(Counter(str(sample["branches"]) for sample in samples)),
        "stack_over_floor_p50": round(float(np.median(stack) / np.median(fresh)), 4),
        "stack_over_floor_reusing_p50": round(float(np.median(stack) / np.median(reusing)), 4),
    }


def _run(floor: Floor, peer: Child, rounds: int) -> tuple[list[int], list[int], list[dict[str, int]]]:
    """Samples of floor, reusing floor and stack, in alternating blocks."""
    fresh: list[int] = []
    reusing: list[int] = []
    samples: list[dict[str, int]] = []
    while len(samples) < rounds:
        numbers = range(len(fresh), len(fresh) + BLOCK)
        fresh += [floor.echo(number) for number in numbers]
        peer.say(str(BLOCK))
        samples += peer.json_line()
        reusing += [floor.echo_reusing(number) for number in numbers]
    return fresh, reusing, samples


def _machine() -> dict[str, Any]:
    return {
        "cpus": os.cpu_count(),
        "load_1min": round(os.getloadavg()[0], 2),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "libzmq": zmq.zmq_version(),
        "pyzmq": zmq.pyzmq_version(),
    }


def _summary(result: dict[str, Any], out: Path) -> list[str]:
    names = ("stack_ms", "floor_ms", "floor_reusing_ms", "pipeline_ms", "engine_ms")
    share = result["tr_share_of_head_p50"]
    return [
        *(f"{name:18} " + "  ".join(f"{p} {ms:.3f}" for p, ms in result[name].items()) for name in names),
        f"stack / floor      {result['stack_over_floor_p50']} (target at most 1.3)",
        f"stack / reusing    {result['stack_over_floor_reusing_p50']}",
        f"TR share of head   {share if share is not None else result['tr_share_reason']}",
        f"written to {out}",
    ]
