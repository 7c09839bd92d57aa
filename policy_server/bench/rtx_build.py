"""`python -m policy_server.bench.rtx_build`: a random Cosmos of 100 million parameters through TensorRT-RTX, no card.

Exports the two video graphs in bf16, builds engines for one card, and checks what was built: names, dtypes, the free
axis, sizes. Times are of this machine's CPU; nothing is run on a card.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import tyro

from contract.errors import EngineError
from policy_server.bench.engines.sizes import mid
from policy_server.compiled.branches import Branches
from policy_server.compiled.compiler import Compiled
from policy_server.compiled.target import parse_target
from policy_server.engines.tensorrt_compiler import TensorRtCompiler
from policy_server.export.bundle import VIDEO_WEIGHTS
from policy_server.export.onnx_graph import to_onnx
from policy_server.export.precision import Precision, graphs_in
from policy_server.export.weights import save_sharing
from policy_server.model.graphs import VIDEO_PAIR
from policy_server.model.policy import build

LEAST_BYTES_PER_PARAMETER = 1.9
"""bf16 is two bytes; an engine much smaller than that has lost its weights."""


def rtx_build(
    target: str = "rtx:sm120",
    precision: Precision = "bf16",
    height: int = 256,
    width: int = 256,
    json_path: Path = Path("out/bench/rtx_build.json"),
) -> None:
    """Export and build, print and write what came out.

    Args:
        target: card to build for.
        precision: of the graphs.
        height: of the canvas.
        width: of the canvas.
        json_path: file for the results.
    """
    compiler = TensorRtCompiler(parse_target(target))
    start = time.monotonic()
    model = build(mid(height, width), seed=0)
    parameters = sum(each.numel() for each in model.backbone.parameters())
    graphs = graphs_in(model, precision)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        exported = {folder / f"{name}.onnx": to_onnx(graphs[name]) for name in VIDEO_PAIR}
        save_sharing(exported, folder / VIDEO_WEIGHTS)
        exported.clear()
        export_s = time.monotonic() - start
        print(f"{parameters / 1e6:.1f} M parameters exported in {precision}: {export_s:.1f} s", flush=True)
        rows = [_built(compiler, folder / f"{name}.onnx", parameters, precision) for name in VIDEO_PAIR]
    result = {
        "target": target,
        "compiler": f"{compiler.name} {compiler.version}",
        "precision": precision,
        "parameters": parameters,
        "export_s": round(export_s, 1),
        "engines": rows,
    }
    json_path.parent.mkdir(parents=True, exist_ok=True)
    json_path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _built(compiler: TensorRtCompiler, graph: Path, parameters: int, precision: str) -> dict[str, Any]:
    start = time.monotonic()
    made = compiler.compile(graph, Branches(), lambda line: None)
    seconds = time.monotonic() - start
    _require_bindings(graph.stem, made)
    if graph.stem == "video_step" and precision != "fp32" and len(made.engine) < LEAST_BYTES_PER_PARAMETER * parameters:
        raise EngineError(
            f"engine {graph.stem}", expected="two bytes a parameter", got=f"{len(made.engine)} bytes of {parameters}"
        )
    shapes = {binding.name: [binding.dtype, list(binding.shape)] for binding in (*made.inputs, *made.outputs)}
    print(f"{graph.stem}: {len(made.engine) / 1e6:.0f} MB in {seconds:.1f} s, {shapes}", flush=True)
    return {"graph": graph.stem, "bytes": len(made.engine), "build_s": round(seconds, 1), "bindings": shapes}


def _require_bindings(name: str, made: Compiled) -> None:
    """Raises `EngineError` unless every binding is float32 outside and has the free axis of branches."""
    for binding in (*made.inputs, *made.outputs):
        if binding.dtype != "float32" or binding.shape[0] != -1:
            raise EngineError(
                f"{name}, {binding.name}",
                expected="float32 with a free first axis",
                got=f"{binding.dtype} {binding.shape}",
            )


if __name__ == "__main__":
    tyro.cli(rtx_build)
