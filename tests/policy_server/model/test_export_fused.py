"""The head on fused kernels exports as the plain one does: any number of branches, equal numbers."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest
import torch

from contract.errors import BundleError
from policy_server.export.onnx_graph import to_onnx
from policy_server.model.graphs import Graph, GraphModule, graphs_of
from policy_server.model.untrained import untrained_model
from tests.policy_server.model.nano import nano


@pytest.mark.parametrize("name", ["context", "action_step"])
def test_graphs_of_the_fused_head_take_any_number_of_branches(name: str) -> None:
    """B47: a `len` in the new code froze the axis at the example's two, and the exporter said nothing."""
    config = nano().model_copy(update={"head": nano().head.model_copy(update={"kernel": "fused"})})
    graph = graphs_of(untrained_model(3, config))[name]
    session = ort.InferenceSession(to_onnx(graph).SerializeToString(), providers=["CPUExecutionProvider"])
    for branches in (1, 2, 3):
        inputs = [each[:1].expand(branches, *each.shape[1:]).contiguous() for each in graph.inputs.values()]
        got = session.run(None, dict(zip(graph.inputs, (each.numpy() for each in inputs), strict=True)))
        with torch.no_grad():
            wanted = graph.module(*inputs)
        for mine, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(mine, other.numpy(), atol=2e-5)


def test_a_graph_that_counts_its_branches_is_refused() -> None:
    """B47."""
    module = GraphModule(torch.nn.Identity(), lambda x: x.reshape(len(x), 2, 2))
    graph = Graph("counting", module, {"x": torch.zeros(2, 4)}, ("y",), True)
    with pytest.raises(BundleError, match="counting"):
        to_onnx(graph)
