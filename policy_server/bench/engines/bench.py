"""`yam-policy bench engines`: every way to run every graph, and whole replans, on the sizes asked for."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import torch

from contract.errors import EngineError
from policy_server.bench.engines.contestants import CONTESTANTS, NotMeasuredError
from policy_server.bench.engines.device_clock import time_calls
from policy_server.bench.engines.figures import figures, line
from policy_server.bench.engines.peaks import measure_peaks
from policy_server.bench.engines.plan import DTYPES, LOOPS, Plan
from policy_server.bench.engines.replans import loops_engine, random_model, replan_call, replan_work
from policy_server.bench.engines.results import open_results, with_shares
from policy_server.bench.engines.sizes import sizes
from policy_server.bench.engines.work import Work, work_of
from policy_server.export.precision import graphs_in
from policy_server.model.config import ModelConfig
from policy_server.model.graphs import Graph
from policy_server.model.loops.device_errors import device_errors
from policy_server.model.policy import VideoActionModel

TIMED: Final = ("encode", "video_step", "video_tap", "context", "action_step", "decode")
"""The graphs of a replan, and the decoder of an imagination; text is computed once per instruction."""
_WARM_UP: Final = {"cuda": 3, "cpu": 1}
_SAME: Final = ("device", "precision", "torch", "threads")

Row = dict[str, Any]


def say_at_once(line: str) -> None:
    """Also into a pipe: a row takes long, and a run may be stopped."""
    print(line, flush=True)


def bench_engines(out: Path, plan: Plan, say: Callable[[str], None] = say_at_once) -> dict[str, Any]:
    """Time everything, print it, write `out`, where rows of earlier calls on this machine are kept.

    Raises `ConfigurationError` for a device, size, engine or canvas that is not there.
    """
    device = plan.check()
    wanted = sizes(plan.sizes, plan.canvases)
    peaks = measure_peaks(device, DTYPES[plan.precision])
    say(f"{_name(device)}, {plan.precision}: {peaks.tflop_s:.3f} TFLOP/s, {peaks.gb_s:.0f} GB/s measured at most")
    about = {
        "device": _name(device),
        "precision": plan.precision,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "peaks": {"tflop_s": peaks.tflop_s, "gb_s": peaks.gb_s, "product_by": peaks.product_by},
        "not_here": "tensorrt and tensorrt_rtx engines are timed on a card, by `python -m policy_server.bench.replan`",
    }
    results = open_results(out, about, _SAME)
    for label, config in wanted:
        for row in _rows(config, plan, device):
            row = {"size": label, **row}
            results.add(row)
            say(line(with_shares(row, results.peaks)))
    return results.content


def _rows(config: ModelConfig, plan: Plan, device: torch.device) -> Iterator[Row]:
    model = random_model(config, device)
    graphs = graphs_in(model, plan.precision)
    works: dict[str, Work] = {}
    for name in TIMED:
        graph = graphs[name]
        graph.module.to(device)
        works[name] = work_of(graph, _inputs(graph, 1, device))
        for engine in plan.engines:
            if engine in CONTESTANTS:
                yield from _of_graph(graph, engine, works[name], plan)
    del graphs  # in half precision the loops narrow a copy of their own, and two do not fit every card
    for engine in plan.engines:
        if engine in LOOPS:
            yield from _of_replan(model, engine, works, plan)


def _of_graph(graph: Graph, engine: str, work: Work, plan: Plan) -> Iterator[Row]:
    device = torch.device(plan.device)
    counts = plan.branches if graph.branches else (1,)
    abouts: list[Row] = [{"graph": graph.name, "branches": count, "engine": engine} for count in counts]
    try:
        prepared = CONTESTANTS[engine](graph)
        for about in abouts:
            call = prepared(_inputs(graph, about["branches"], device))
            yield {**about, **_timed(call, work.of(about["branches"]), plan)}
    except NotMeasuredError as reason:
        yield from ({**about, "not_measured": str(reason)} for about in abouts)


def _of_replan(model: VideoActionModel, engine: str, works: dict[str, Work], plan: Plan) -> Iterator[Row]:
    loops = loops_engine(model, plan.precision, torch.device(plan.device), engine.endswith("compiled"))
    for count in plan.branches:
        about = {"graph": "replan", "branches": count, "engine": engine}
        try:
            with device_errors(engine):
                spent = _timed(replan_call(loops, count), replan_work(model.config, works, count), plan)
        except EngineError as error:
            spent = {"not_measured": str(error)}
        yield {**about, **spent}
    loops.close()


def _timed(call: Callable[[], object], work: Work, plan: Plan) -> Row:
    device = torch.device(plan.device)
    return figures(time_calls(call, device, plan.rounds, _WARM_UP[device.type], plan.most_s), work)


def _inputs(graph: Graph, branches: int, device: torch.device) -> tuple[torch.Tensor, ...]:
    """The example inputs with as many branches, on the device."""
    return tuple(
        (each[:1].expand(branches, *each.shape[1:]) if graph.branches else each).contiguous().to(device)
        for each in graph.inputs.values()
    )


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU {platform.machine()}"
