"""`yam-policy bench engines`: every way to run every graph, on the sizes asked for."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from contract.errors import ConfigurationError
from policy_server.bench.engines.contestants import CONTESTANTS, NotMeasuredError
from policy_server.bench.engines.device_clock import time_calls
from policy_server.bench.engines.peaks import Peaks, measure_peaks
from policy_server.bench.engines.sizes import sizes
from policy_server.bench.engines.work import Work, work_of
from policy_server.model.config import ModelConfig
from policy_server.model.graphs import Graph, graphs_of
from policy_server.model.policy import build

DTYPES: Final = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
TIMED: Final = ("video_tap", "video_step", "context", "action_step")
"""The graphs of a replan that take its time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to time."""

    sizes: tuple[str, ...] = ("tiny",)
    branches: tuple[int, ...] = (1, 2, 3)
    contestants: tuple[str, ...] = tuple(CONTESTANTS)
    precision: str = "fp32"
    device: str = "cpu"
    rounds: int = 30


def bench_engines(out: Path, plan: Plan, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Time everything, print it, write `out`. Raises `ConfigurationError` for a device that is not there."""
    device = _device(plan.device)
    dtype = DTYPES[plan.precision]
    peaks = measure_peaks(device, dtype)
    say(f"{_name(device)}, {plan.precision}: {peaks.tflop_s:.2f} TFLOP/s, {peaks.gb_s:.0f} GB/s measured at most")
    result: dict[str, Any] = {
        "device": _name(device),
        "precision": plan.precision,
        "torch": torch.__version__,
        "peaks": {"tflop_s": peaks.tflop_s, "gb_s": peaks.gb_s},
        "not_here": "tensorrt and tensorrt_rtx engines are timed on a card, by `yam-policy verify` and `bench replan`",
        "rows": [],
    }
    for row in _rows(plan, device, dtype, peaks):
        result["rows"].append(row)
        say(_line(row))
        # Written row by row, so that an interrupted run keeps what it measured.
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result


def _rows(plan: Plan, device: torch.device, dtype: torch.dtype, peaks: Peaks) -> Iterator[dict[str, Any]]:
    for label, config in sizes(plan.sizes):
        graphs = _graphs(config, device, dtype)
        for name in TIMED:
            graph = graphs[name]
            for branches in plan.branches:
                inputs = _inputs(graph, branches, device, dtype)
                work = work_of(graph, inputs)
                for contestant in plan.contestants:
                    about = {"size": label, "graph": name, "branches": branches, "engine": contestant}
                    yield {**about, **_measured(contestant, graph, inputs, work, peaks, plan.rounds)}


def _measured(
    contestant: str, graph: Graph, inputs: tuple[torch.Tensor, ...], work: Work, peaks: Peaks, rounds: int
) -> dict[str, Any]:
    device = inputs[0].device
    try:
        call = CONTESTANTS[contestant](graph, inputs)
    except NotMeasuredError as reason:
        return {"not_measured": str(reason)}
    spent = time_calls(call, device, rounds, warm_up=3)
    p50, p95, p99, most = (float(value) for value in np.percentile(spent, [50, 95, 99, 100]))
    tflop_s, gb_s = work.flops / p50 / 1e9, work.least_bytes / p50 / 1e6
    return {
        "ms": {"p50": p50, "p95": p95, "p99": p99, "max": most},
        "gflop": work.flops / 1e9,
        "tflop_s": tflop_s,
        "share_of_peak_tflop_s": tflop_s / peaks.tflop_s,
        "least_gb_s": gb_s,
        "share_of_peak_gb_s": gb_s / peaks.gb_s,
    }


def _graphs(config: ModelConfig, device: torch.device, dtype: torch.dtype) -> dict[str, Graph]:
    """Graphs of random weights; the examples are made in fp32 on the CPU, then the weights are moved."""
    model = build(config, seed=0)
    graphs = graphs_of(model)
    model.to(device, dtype)
    return graphs


def _inputs(graph: Graph, branches: int, device: torch.device, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """The example inputs with as many branches, on the device."""
    return tuple(
        each[:1].expand(branches, *each.shape[1:]).contiguous().to(device, dtype if each.is_floating_point() else None)
        for each in graph.inputs.values()
    )


def _device(name: str) -> torch.device:
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigurationError("--device", expected="cpu", got="cuda, but torch sees no card", remedy="use cpu")
    return torch.device(name)


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU {platform.machine()}"


def _line(row: dict[str, Any]) -> str:
    what = f"{row['size']:14} {row['graph']:12} x{row['branches']} {row['engine']:16}"
    if "not_measured" in row:
        return f"{what} not measured: {row['not_measured']}"
    share = f"{row['tflop_s']:8.3f} TFLOP/s ({row['share_of_peak_tflop_s']:.0%})"
    return f"{what} p50 {row['ms']['p50']:8.2f} p99 {row['ms']['p99']:8.2f} ms {share}"
