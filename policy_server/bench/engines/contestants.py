"""Ways to run one graph: torch as it is, compiled, captured in a CUDA graph, and ONNX Runtime.

Each prepares a graph once and then makes calls for any number of branches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import onnxruntime as ort
import torch

from policy_server.export.onnx_graph import to_onnx
from policy_server.model.graphs import Graph
from policy_server.model.loops.captured import Captured

Call = Callable[[], object]
Inputs = tuple[torch.Tensor, ...]
Prepared = Callable[[Inputs], Call]


class NotMeasuredError(Exception):
    """Why a contestant did not take part."""


def eager(graph: Graph) -> Prepared:
    """torch, operator by operator."""
    return lambda inputs: _without_gradients(graph.module, inputs)


def compiled(graph: Graph) -> Prepared:
    """torch.compile for each number of branches, which on a card captures CUDA graphs by itself in the mode used."""
    torch.compiler.reset()  # all graphs share one `forward`, and only so many variants of it are compiled
    on_card = next(graph.module.parameters()).is_cuda
    module = torch.compile(graph.module, mode="reduce-overhead" if on_card else "default", dynamic=False)

    def prepared(inputs: Inputs) -> Call:
        call = _without_gradients(module, inputs)
        try:
            call()
        except (RuntimeError, ImportError, OSError) as error:  # dynamo's and inductor's errors are RuntimeErrors
            first = (str(error).splitlines() or [""])[0][:120]
            raise NotMeasuredError(f"torch.compile: {type(error).__name__}: {first}") from error
        return call

    return prepared


def captured(graph: Graph) -> Prepared:
    """torch in one CUDA graph over fixed buffers."""
    if not next(graph.module.parameters()).is_cuda:
        raise NotMeasuredError("no card")

    def prepared(inputs: Inputs) -> Call:
        call = _without_gradients(graph.module, inputs)
        piece = Captured(lambda: _drop(call()), inputs[0].device)
        piece.launch()
        return piece.launch

    return prepared


def onnx_runtime(graph: Graph) -> Prepared:
    """ONNX Runtime on the CPU in float32, with the threads that torch has."""
    weight = next(graph.module.parameters())
    if weight.is_cuda or weight.dtype != torch.float32:
        raise NotMeasuredError("timed on the CPU in fp32 only")
    options = ort.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = ort.InferenceSession(to_onnx(graph).SerializeToString(), options, providers=["CPUExecutionProvider"])

    def prepared(inputs: Inputs) -> Call:
        feeds = {name: np.asarray(each) for name, each in zip(graph.inputs, inputs, strict=True)}
        return lambda: session.run(None, feeds)

    return prepared


CONTESTANTS: Final[dict[str, Callable[[Graph], Prepared]]] = {
    "torch eager": eager,
    "torch compile": compiled,
    "torch CUDA graph": captured,
    "ONNX Runtime": onnx_runtime,
}


def _without_gradients(module: Callable[..., object], inputs: Inputs) -> Call:
    def call() -> object:
        with torch.no_grad():
            return module(*inputs)

    return call


def _drop(made: object) -> None:
    """A captured piece gives nothing back; its outputs live in the capture's own memory."""
