"""The reference engine: a checkpoint's torch model in float32, graph by graph, behind the interface of every engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from numpy.typing import NDArray

from contract.errors import BundleError
from policy_server.bundle import CHECKPOINT_FOLDER, MANIFEST_NAME, file_sha256
from policy_server.engines.torch_graphs import TorchGraphs
from policy_server.model.checkpoint import CONFIG, WEIGHTS, load_checkpoint
from policy_server.model.feeds import checked_feed
from policy_server.model.graphs import graphs_of
from policy_server.model.policy import VideoActionModel


class TorchEngine(TorchGraphs):
    """`Engine` over a model in memory; `load` reads a checkpoint folder."""

    def __init__(self, model: VideoActionModel, weights_hash: str, device: str = "cpu") -> None:
        super().__init__(graphs_of(model))
        self.model = model
        self._device = torch.device(device)
        self.id = f"torch-{torch.__version__.split('+')[0]}-{device}/fp32/{weights_hash[:12]}"
        self.runs_on = f"torch {torch.__version__}, {self._device}, float32"

    @classmethod
    def load(cls, folder: Path | str, device: str = "cpu") -> TorchEngine:
        """The engine of a checkpoint folder, or of a bundle that was exported with its checkpoint.

        Raises `BundleError` for a broken checkpoint and for a bundle that holds graphs only.
        """
        folder = checkpoint_in(Path(folder))
        checkpoint = load_checkpoint(folder)
        return cls(checkpoint.model.to(device), file_sha256(folder / WEIGHTS), device)

    def run(self, graph: str, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Outputs by name. Raises `EngineError` for a missing or ill-shaped input."""
        spec = self._graph(graph)
        arguments = [torch.from_numpy(checked_feed(spec, name, feeds)).to(self._device) for name in spec.inputs]
        with torch.no_grad():
            result = spec.module(*arguments)
        values = result if isinstance(result, tuple) else (result,)
        return {name: value.cpu().numpy() for name, value in zip(spec.outputs, values, strict=True)}

    def close(self) -> None:
        """Give up the weights."""
        self._graphs = {}


def checkpoint_in(folder: Path) -> Path:
    """The checkpoint folder itself, or the one that a bundle carries. Raises `BundleError` where there is none."""
    for candidate in (folder, folder / CHECKPOINT_FOLDER):
        if (candidate / CONFIG).is_file():
            return candidate
    raise BundleError(
        f"torch engine on {folder}",
        expected=f"{CONFIG} and {WEIGHTS} there or in {CHECKPOINT_FOLDER}/",
        got="graphs only" if (folder / MANIFEST_NAME).is_file() else "no checkpoint",
        remedy="export the bundle with carry_checkpoint, or use the onnxruntime engine",
    )
