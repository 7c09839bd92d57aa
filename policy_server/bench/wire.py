"""`yam-policy bench wire`: what a replan costs outside the engine, against the bare transport of the same bytes."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any, Final

import zmq

from policy_server.bench.children import Child, child
from policy_server.bench.echo import Echo
from policy_server.bench.masses import masses_share
from policy_server.bench.samples import Samples
from policy_server.bundle import read_manifest

BLOCK: Final = 5
"""Rounds of one kind before the next kind has its turn."""
ROLES: Final = ("top", "left_wrist", "right_wrist")
_DEFINITION: Final = {
    "stack": "camera buffers -> observation -> encode -> send -> receive -> decode -> check -> canvas -> noise, flow, "
    "TR, guidance -> answer -> decode -> check, less engine calls",
    "floor": "twice (each side) np.copyto of the three images into new arrays, plus echo",
    "floor_kept": "twice np.copyto of the three images into arrays that are kept, plus echo: stricter, no page faults",
    "echo": "bare DEALER and ROUTER, the same bytes both ways, nothing read, nothing copied",
}


def bench_wire(out: Path, rounds: int, bundle: Path | None) -> dict[str, Any]:
    """Measure, print a summary, write `out` and return what was written. Raises `ConfigurationError` when a process of
    the benchmark does not answer, `BundleError` for a broken bundle."""
    if bundle is not None:
        read_manifest(bundle)  # a wrong path is said now, not after the first half
    result = {**_measure(rounds), **masses_share(bundle, rounds), "machine": _machine()}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=2) + "\n")
    for line in _summary(result, out):
        print(line)
    return result


def _measure(rounds: int) -> dict[str, Any]:
    with (
        child("policy_server.bench.stack_server") as server,
        child("policy_server.bench.echo_server") as echo_server,
        child("policy_server.bench.copies") as copies,
        child("robot_client.link.bench_peer", "--server", server.ready_address(), "--roles", *ROLES) as peer,
    ):
        sizes = peer.json_line()
        echo = Echo(echo_server.ready_address(), sizes["request_sizes"], sizes["reply_sizes"])
        warm_up = max(BLOCK, rounds // 10)
        _run(peer, echo, copies, warm_up)
        samples = _run(peer, echo, copies, rounds)
        echo.close()
    return {
        "definition": _DEFINITION,
        "rounds": len(samples.echo_ns),
        "warm_up_rounds": warm_up,
        "request_bytes": sum(sizes["request_sizes"]),
        "reply_bytes": sum(sizes["reply_sizes"]),
        **samples.report(),
    }


def _run(peer: Child, echo: Echo, copies: Child, rounds: int) -> Samples:
    """Stack, echo and copies in alternating blocks."""
    samples = Samples()
    while len(samples.replans) < rounds:
        peer.say(str(BLOCK))
        samples.replans += peer.json_line()
        samples.echo_ns += [echo.sample() for _ in range(BLOCK)]
        copies.say(str(BLOCK))
        samples.copies_ns += copies.json_line()
    return samples


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
    names = [name for name in result if name.endswith("_ms")]
    share = result["tr_share_of_head_p50"]
    return [
        *(f"{name:24}" + "  ".join(f"{p} {ms:.3f}" for p, ms in result[name].items()) for name in names),
        f"stack / floor           {result['stack_over_floor_p50']} (target at most 1.3)",
        f"stack / floor_kept      {result['stack_over_floor_kept_p50']}",
        f"TR share of head        {share if share is not None else result['tr_share_reason']} (target at most 0.05)",
        f"written to {out}",
    ]
