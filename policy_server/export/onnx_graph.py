"""One graph of the model to one ONNX model, in memory."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import onnx
import torch

from contract.errors import BundleError
from policy_server.model.graphs import Graph

OPSET = 20
"""The first opset with Gelu as one node; at least 18 is needed for the layer norms."""


def to_onnx(graph: Graph) -> onnx.ModelProto:
    """The graph with named inputs and outputs, a free axis "branches" where it has one, and all weights inside."""
    free = {0: torch.export.Dim("branches", min=1)} if graph.branches else {}
    with torch.no_grad(), _quiet():
        program = torch.onnx.export(
            graph.module.eval(),
            tuple(graph.inputs.values()),
            input_names=list(graph.inputs),
            output_names=list(graph.outputs),
            dynamic_shapes=(tuple(free for _ in graph.inputs),),
            dynamo=True,
            opset_version=OPSET,
            verbose=False,
        )
    if program is None:
        raise BundleError(
            f"graph {graph.name}", got="no program from torch.onnx.export", remedy="use torch 2.6 to 2.14"
        )
    model = _bare(program.model_proto, graph.name)
    _require_free_branches(model, graph)
    return model


def _require_free_branches(model: onnx.ModelProto, graph: Graph) -> None:
    """The exporter says nothing when the model's own code fixes the axis, by a `len` say (B47)."""
    if not graph.branches:
        return
    for each in (*model.graph.input, *model.graph.output):
        axis = each.type.tensor_type.shape.dim[0]
        if axis.HasField("dim_value"):
            raise BundleError(
                f"graph {graph.name}, {each.name}",
                expected="any number of branches",
                got=f"{axis.dim_value} and no other",
                remedy="the model's code counts its branches where it should not",
            )


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter warns about torchvision operators that no graph here uses."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


def _bare(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Without stack traces and source paths, which would make the bytes depend on where they were exported."""
    model.graph.name = name
    model.doc_string = ""
    del model.metadata_props[:]
    graphs = [model.graph, *model.functions]
    for graph in graphs:
        graph.doc_string = ""
        del graph.metadata_props[:]
        for item in (*graph.node, *graph.value_info):
            item.doc_string = ""
            del item.metadata_props[:]
    for item in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        item.doc_string = ""
        del item.metadata_props[:]
    return model
