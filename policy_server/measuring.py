"""`yam-policy bench`: what is measured where the server runs. Each kind imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro

from contract.errors import ConfigurationError


def bench(
    what: Annotated[Literal["wire", "engines"], tyro.conf.Positional],
    json: Path | None = None,
    rounds: int | None = None,
    bundle: Path | None = None,
    sizes: tuple[str, ...] = ("tiny",),
    canvases: tuple[str, ...] = ("256x256", "480x640"),
    branches: tuple[int, ...] = (1, 2, 3),
    engines: tuple[str, ...] = (),
    device: Literal["cpu", "cuda"] = "cpu",
    precision: Literal["fp32", "bf16", "fp16"] = "fp32",
    most_s: float = 20.0,
) -> None:
    """Measure: `wire` a replan's time outside the engine against the bare transport, `engines` the graphs themselves.

    Args:
        what: which benchmark.
        json: file for the results; default out/bench/WHAT.json.
        rounds: measured replans (wire, default 600) or runs of each graph (engines, default 30), after a warm-up.
        bundle: wire: whose head is timed with and without reading the Temporal Ratio; it must carry its checkpoint.
            Default: random weights of size `tiny`, exported for this run.
        sizes: engines: tiny, mid (100 million parameters), full (Cosmos-2B, on a card only); random weights.
        canvases: engines: HEIGHTxWIDTH in pixels.
        branches: engines: batches of guidance branches, 1 to 3.
        engines: engines: names out of "torch eager", "torch compile", "torch CUDA graph", "ONNX Runtime", "whole loops"
            and "whole loops, compiled"; default all. Rows of the file that this call does not measure are kept.
        device: engines: where.
        precision: engines: of backbone and head.
        most_s: engines: longest time of one row; slow graphs are run fewer times, three at least.
    """
    if rounds is not None and rounds < 1:
        raise ConfigurationError("--rounds", expected="1 or more", got=rounds, remedy="or leave it out")
    out = json or Path(f"out/bench/{what}.json")
    if what == "engines":
        from policy_server.bench.engines.bench import bench_engines
        from policy_server.bench.engines.plan import EVERY, Plan

        asked = Plan(sizes, canvases, branches, engines or EVERY, precision, device, rounds or 30, most_s)
        bench_engines(out, asked)
        return
    from policy_server.bench.wire import bench_wire

    bench_wire(out, rounds or 600, bundle)
