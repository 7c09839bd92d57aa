"""Half precision, decided when a graph is written: TensorRT builds strongly typed, so a graph's types are the engine's.

The backbone and the head compute in bf16 or fp16; their inputs and outputs stay float32, and so do the encoder, the
text and the decoder, which cost little. The flow of rows and latents is integrated on the host in float32.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Final, Literal

import torch
from torch import Tensor

from policy_server.model.graphs import Graph, GraphModule, graphs_of
from policy_server.model.policy import VideoActionModel

Precision = Literal["fp32", "fp16", "bf16"]
NARROW: Final = ("video_step", "video_tap", "context", "action_step")
"""Graphs that are written in half precision."""
DTYPES: Final = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Narrowed(GraphModule):
    """A graph's module in half precision between float32 inputs and outputs."""

    def __init__(self, graph: Graph, dtype: torch.dtype) -> None:
        super().__init__(graph.module.owner.to(dtype), graph.module.function)
        self.dtype = dtype

    def forward(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        narrow = (each.to(self.dtype) if each.is_floating_point() else each for each in inputs)
        result = self.function(*narrow)
        return tuple(each.float() for each in result) if isinstance(result, tuple) else result.float()


def graphs_in(model: VideoActionModel, precision: Precision) -> dict[str, Graph]:
    """Every graph of the model in a precision; the model itself is left as it is."""
    if precision == "fp32":
        return graphs_of(model)
    graphs = graphs_of(copy.deepcopy(model))
    # Example tensors were computed in float32 above, before the weights below are narrowed in place.
    narrow = {name: replace(graphs[name], module=Narrowed(graphs[name], DTYPES[precision])) for name in NARROW}
    return {**graphs, **narrow}
