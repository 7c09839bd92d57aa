"""`yam-policy export`: a checkpoint folder to a bundle folder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from contract.errors import ConfigurationError


def export(
    checkpoint: Path,
    bundle: Path,
    precision: Literal["fp32", "fp16", "bf16"],
    carry_checkpoint: bool,
    lora: Path | None = None,
) -> None:
    """Export with torch. Raises `BundleError` for a broken checkpoint, `ConfigurationError` where torch is missing."""
    try:
        from policy_server.export.bundle import export_bundle
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "export",
            expected="torch, diffusers and onnx",
            got=f"no {error.name}",
            remedy="pip install 'yam-video-action[train]'",
        ) from error
    manifest = export_bundle(
        checkpoint, bundle, precision, carry_checkpoint=carry_checkpoint, lora=lora, progress=print
    )
    print(f"{bundle}: {manifest.model_id}, weights {manifest.weights_hash[:12]}")
