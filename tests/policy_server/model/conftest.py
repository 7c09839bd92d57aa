"""Models and bundles that several test files share, made once."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
import torch

from policy_server.export.bare_head import HEAD_GRAPHS
from policy_server.export.bundle import export_bundle
from policy_server.export.onnx_graph import to_onnx
from policy_server.model.checkpoint import save_checkpoint
from policy_server.model.graphs import Graph
from policy_server.model.policy import VideoActionModel
from policy_server.model.untrained import make_untrained, untrained_card, untrained_model
from tests.policy_server.model.nano import HEADS, nano


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session", params=HEADS)
def head_kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def nano_model(head_kind: str) -> VideoActionModel:
    """Both heads sit on one and the same backbone, words and latent encoder."""
    model, other = (untrained_model(3, nano(kind)) for kind in (head_kind, HEADS[0]))
    for part in ("latent", "instruction", "backbone"):
        getattr(model, part).load_state_dict(getattr(other, part).state_dict())
    return model


@pytest.fixture(scope="session")
def nano_checkpoint(nano_model: VideoActionModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nano_checkpoint")
    save_checkpoint(nano_model, untrained_card(nano_model.config, 3, "twin", "a test"), folder)
    return folder


@pytest.fixture(scope="session")
def exported_once() -> Callable[[Graph], onnx.ModelProto]:
    """`to_onnx` that exports the graphs which both nano models share only once."""
    kept: dict[str, onnx.ModelProto] = {}

    def export(graph: Graph) -> onnx.ModelProto:
        if graph.name in HEAD_GRAPHS:
            return to_onnx(graph)
        if graph.name not in kept:
            kept[graph.name] = to_onnx(graph)
        return copy.deepcopy(kept[graph.name])

    return export


@pytest.fixture(scope="session")
def nano_bundle(
    nano_checkpoint: Path,
    exported_once: Callable[[Graph], onnx.ModelProto],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    folder = tmp_path_factory.mktemp("bundles") / "nano"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("policy_server.export.bundle.to_onnx", exported_once)
        export_bundle(nano_checkpoint, folder)
    return folder


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights of the size that the command makes by default."""
    folder = tmp_path_factory.mktemp("tiny")
    make_untrained(folder)
    return folder
