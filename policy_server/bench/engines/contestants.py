"""Ways to run one graph: torch as it is, compiled, captured in a CUDA graph, and ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import onnxruntime as ort
import torch

from policy_server.export.onnx_graph import to_onnx
from policy_server.model.graphs import Graph

Call = Callable[[], object]
Inputs = tuple[torch.Tensor, ...]


class NotMeasuredError(Exception):
    """Why a contestant did not take part."""


def eager(graph: Graph, inputs: Inputs) -> Call:
    """torch, operator by operator."""

    def call() -> object:
        with torch.no_grad():
            return graph.module(*inputs)

    return call


def compiled(graph: Graph, inputs: Inputs) -> Call:
    """torch.compile, which on a card captures CUDA graphs by itself in the mode used."""
    mode = "reduce-overhead" if inputs[0].is_cuda else "default"
    module = torch.compile(graph.module, mode=mode)

    def call() -> object:
        with torch.no_grad():
            return module(*inputs)

    try:
        call()
    except (RuntimeError, ImportError, OSError) as error:  # dynamo's and inductor's errors are RuntimeErrors
        raise NotMeasuredError(f"torch.compile: {type(error).__name__}: {str(error).splitlines()[0][:120]}") from error
    return call


def captured(graph: Graph, inputs: Inputs) -> Call:
    """torch in one CUDA graph over fixed buffers."""
    if not inputs[0].is_cuda:
        raise NotMeasuredError("no card")
    run = eager(graph, inputs)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    recording = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recording):
        run()
    return recording.replay


def onnx_runtime(graph: Graph, inputs: Inputs) -> Call:
    """ONNX Runtime on the CPU in float32, with the threads that torch has."""
    if inputs[0].is_cuda or any(each.dtype in (torch.bfloat16, torch.float16) for each in inputs):
        raise NotMeasuredError("timed on the CPU in fp32 only")
    options = ort.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    model = to_onnx(graph).SerializeToString()
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = {name: np.asarray(each) for name, each in zip(graph.inputs, inputs, strict=True)}
    return lambda: session.run(None, feeds)


CONTESTANTS: Final[dict[str, Callable[[Graph, Inputs], Call]]] = {
    "torch eager": eager,
    "torch compile": compiled,
    "torch CUDA graph": captured,
    "ONNX Runtime": onnx_runtime,
}
