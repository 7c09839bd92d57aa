"""How much work one run of a graph is: floating-point operations as torch counts them, and bytes that must move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from policy_server.model.graphs import Graph

Shape: TypeAlias = Sequence[int]


def _attention(query: Shape, key: Shape, value: Shape, *_: object, **__: object) -> int:
    return int(sdpa_flop_count(query, key, value))


_CPU_ATTENTION: Final = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention}
"""torch counts its fused kernels for cards alone."""


@dataclass(frozen=True, slots=True)
class Work:
    """Of one run."""

    flops: int
    """Matrix products, convolutions and attention; two per multiply-add."""
    weight_bytes: int
    """Of the layers that took part: the tap, say, does not read the blocks behind it."""
    other_bytes: int
    """Inputs and outputs."""

    @property
    def least_bytes(self) -> int:
        """Weights, inputs and outputs once each: what no implementation can avoid moving."""
        return self.weight_bytes + self.other_bytes

    def of(self, branches: int) -> Work:
        """The same for so many branches, counted for one."""
        return Work(self.flops * branches, self.weight_bytes, self.other_bytes * branches)

    def __add__(self, other: Work) -> Work:
        """Both, one after the other."""
        return Work(
            self.flops + other.flops, self.weight_bytes + other.weight_bytes, self.other_bytes + other.other_bytes
        )


def work_of(graph: Graph, inputs: tuple[torch.Tensor, ...]) -> Work:
    """Counted by running the graph once."""
    used: dict[int, int] = {}

    def note(module: nn.Module, *_: object) -> None:
        lists = (each for each in module.children() if isinstance(each, nn.ParameterList))
        for part in (module, *lists):
            used.update({id(each): each.nbytes for each in part.parameters(recurse=False)})

    hooks = [each.register_forward_hook(note) for each in graph.module.modules()]
    try:
        with torch.no_grad(), FlopCounterMode(display=False, custom_mapping=_CPU_ATTENTION) as counter:
            outputs = graph.module(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    made = outputs if isinstance(outputs, tuple) else (outputs,)
    return Work(counter.get_total_flops(), sum(used.values()), sum(each.nbytes for each in (*inputs, *made)))
