"""The torch model on a card: whole loops in CUDA graphs, one for each number of branches, on fixed buffers.

The same code runs on a CPU without captures; that is how its arithmetic is tested. On a card it has not been run yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from numpy.typing import NDArray

from contract.errors import EngineError
from contract.manifest import BundleManifest
from policy_server.bundle import Bundle
from policy_server.engines.torch_engine import checkpoint_in
from policy_server.engines.torch_graphs import TorchGraphs
from policy_server.export.precision import DTYPES, graphs_in
from policy_server.model.checkpoint import load_checkpoint
from policy_server.model.config import ModelConfig
from policy_server.model.graphs import Graph
from policy_server.model.loops.board import make_board
from policy_server.model.loops.fixed_graph import FixedGraph, fix_graph
from policy_server.model.loops.replan_loops import ReplanLoops
from policy_server.model.loops.staging import Staging
from policy_server.model.policy import VideoActionModel

Fix = Callable[[Graph, int], FixedGraph]
"""A graph on buffers for a number of branches."""
ALONE = ("encode", "text", "decode", "video_step")
"""Graphs that a replan or an imagination runs by themselves."""


class CapturedTorchEngine(TorchGraphs):
    """`Engine` with `loops`; `load` reads the checkpoint that a bundle carries, `captured_engine` takes a model."""

    def __init__(self, name: str, runs_on: str, graphs: Mapping[str, Graph], loops: ReplanLoops, fix: Fix) -> None:
        super().__init__(graphs)
        self.id, self.runs_on, self.loops = name, runs_on, loops
        self._fix = fix
        self._fixed: dict[tuple[str, int], FixedGraph] = {}

    @classmethod
    def load(cls, bundle: Bundle, device: str = "cuda", compiled: bool = True) -> CapturedTorchEngine:
        """The engine of a bundle that carries its checkpoint, every piece captured.

        Raises `EngineError` without a card, or when a piece cannot be compiled or captured, `BundleError` for a bundle
        of graphs only.
        """
        if device == "cuda" and not torch.cuda.is_available():
            raise EngineError(
                "engine torch_cuda",
                expected="an NVIDIA card and a torch built for CUDA",
                got=f"torch {torch.__version__} sees no card",
                remedy="use --engine onnxruntime",
            )
        torch.backends.cudnn.allow_tf32 = False  # the encoder is fp32 in every precision
        # All graphs share one `forward`; past the usual limit of 8 variants torch would run them uncompiled.
        torch._dynamo.config.recompile_limit = 64
        model = load_checkpoint(checkpoint_in(bundle.folder)).model
        engine = captured_engine(model, bundle.manifest, device, compiled)
        engine.prepare()
        return engine

    def prepare(self) -> None:
        """Capture everything that serving runs. Raises `EngineError`."""
        self.loops.prepare()
        for name in ALONE:
            fixed = self._at(name, 1)
            fixed.run({key: each.cpu().numpy() for key, each in fixed.inputs.items()})

    def run(self, graph: str, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Outputs by name, one graph alone. Raises `EngineError` for a missing or ill-shaped input."""
        spec = self._graph(graph)
        branches = len(next(iter(feeds.values()))) if spec.branches and feeds else 1
        return self._at(graph, branches).run(feeds)

    def close(self) -> None:
        """Give up weights, buffers and captures."""
        self._graphs, self._fixed = {}, {}
        self.loops.pieces.clear()

    def _at(self, name: str, branches: int) -> FixedGraph:
        """The graph on buffers for so many branches, made when it is first asked for."""
        key = name, branches
        if key not in self._fixed:
            self._fixed[key] = self._fix(self._graph(name), branches)
        return self._fixed[key]


def captured_engine(
    model: VideoActionModel, manifest: BundleManifest, device: str = "cpu", compiled: bool = False
) -> CapturedTorchEngine:
    """The engine of a model, which moves to the device, in the manifest's precision; nothing is captured yet."""
    place, on_card = torch.device(device), device == "cuda"
    graphs = graphs_in(model, manifest.precision)
    for graph in graphs.values():
        graph.module.to(place)
    wrap: Callable[[Any], Any] = partial(torch.compile, dynamic=False) if compiled else lambda call: call
    pool = torch.cuda.graph_pool_handle() if on_card else None
    staging = Staging(place)

    def fix(graph: Graph, branches: int) -> FixedGraph:
        return fix_graph(graph, branches, place, wrap(graph.module), staging, pool)

    version, precision = torch.__version__, manifest.precision
    card = torch.cuda.get_device_name(place) if on_card else "cpu"
    how = "loops in CUDA graphs" if on_card else "loops without captures"
    return CapturedTorchEngine(
        f"torch-{version.split('+')[0]}-{device}/{precision}/{manifest.weights_hash[:12]}",
        f"torch {version}, {card}, {precision}, {how}{', compiled' if compiled else ''}",
        graphs,
        _loops(graphs, model.config, manifest, wrap, pool),
        fix,
    )


def _loops(
    graphs: Mapping[str, Graph], config: ModelConfig, manifest: BundleManifest, wrap: Callable[[Any], Any], pool: Any
) -> ReplanLoops:
    # In half precision the graphs are of a narrowed copy of the model, so its parts are taken from them.
    backbone: Any = graphs["video_step"].module.owner
    head: Any = graphs["context"].module.owner
    dtype = DTYPES.get(manifest.precision, torch.float32)
    board = make_board(config, head, manifest, next(head.parameters()).device, dtype)
    functions = (backbone.velocity, backbone.features, head.context, head.action_step)
    velocity, features, context, step = (wrap(function) for function in functions)
    return ReplanLoops(board, manifest, (velocity, features, context, step), head, pool)
