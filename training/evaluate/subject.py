"""What is evaluated: a bundle on ONNX Runtime, or a run's checkpoint on torch, for looking in between."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from contract.manifest import BundleManifest
from policy_server.bundle import MANIFEST_NAME, load_bundle
from policy_server.engines.base import Engine
from policy_server.engines.loading import load_engine


@dataclass(frozen=True, slots=True)
class Subject:
    """A manifest and an engine that runs its graphs."""

    manifest: BundleManifest
    engine: Engine

    @property
    def name(self) -> str:
        """Model and weights, as a folder name."""
        return f"{self.manifest.model_id}-{self.engine.id.rsplit('/', 1)[-1]}"


def open_subject(folder: Path) -> Subject:
    """The bundle or checkpoint in a folder; one thread. Raises `BundleError` for anything else."""
    if (folder / MANIFEST_NAME).is_file():
        bundle = load_bundle(folder)
        return Subject(bundle.manifest, load_engine("onnxruntime", bundle, threads=1))
    from policy_server.engines.torch_engine import TorchEngine
    from policy_server.export.manifest import manifest_of
    from policy_server.model.checkpoint import load_checkpoint

    return Subject(manifest_of(load_checkpoint(folder), "fp32"), TorchEngine.load(folder))
