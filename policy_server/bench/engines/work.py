"""How much work one run of a graph is: floating-point operations as torch counts them, and bytes that must move."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode

from policy_server.model.graphs import Graph


@dataclass(frozen=True, slots=True)
class Work:
    """Of one run."""

    flops: int
    """Matrix products, convolutions and attention; two per multiply-add."""
    least_bytes: int
    """Weights, inputs and outputs once each: what no implementation can avoid moving."""


def work_of(graph: Graph, inputs: tuple[torch.Tensor, ...]) -> Work:
    """Counted by running the graph once."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        outputs = graph.module(*inputs)
    made = outputs if isinstance(outputs, tuple) else (outputs,)
    weights = sum(each.nbytes for each in graph.module.owner.parameters())
    return Work(counter.get_total_flops(), weights + sum(each.nbytes for each in (*inputs, *made)))
