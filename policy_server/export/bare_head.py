"""The head's graphs without indicator columns and masses, to measure what reading the Temporal Ratio costs."""

from __future__ import annotations

from pathlib import Path

from policy_server.export.onnx_graph import to_onnx
from policy_server.export.weights import save_graph
from policy_server.model.checkpoint import load_checkpoint
from policy_server.model.graphs import graphs_of
from policy_server.model.head import build_head
from policy_server.model.policy import VideoActionModel

HEAD_GRAPHS = ("context", "action_step")


def export_head_without_masses(checkpoint: Path | str, out: Path | str) -> None:
    """Write `context.onnx` and `action_step.onnx` of the same weights, without masses, into the folder `out`.

    The inputs are those of the bundle's graphs; the outputs lack the masses. `checkpoint`: a checkpoint folder.
    """
    model = load_checkpoint(Path(checkpoint)).model
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    graphs = graphs_of(without_masses(model))
    for name in HEAD_GRAPHS:
        save_graph(to_onnx(graphs[name]), folder / f"{name}.onnx")


def without_masses(model: VideoActionModel) -> VideoActionModel:
    """The model with its head replaced by an equal one that reads no masses."""
    bare = build_head(model.config, with_masses=False)
    bare.load_state_dict(model.head.state_dict())
    model.head = bare.eval()
    return model
