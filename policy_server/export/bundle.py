"""A checkpoint to a complete bundle folder: every graph, shared weights, `policy.toml` with the sha256 of each file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from contract.errors import BundleError, ConfigurationError
from contract.manifest import BundleManifest
from policy_server.bundle import CHECKPOINT_FOLDER, MANIFEST_NAME
from policy_server.bundle_writer import seal
from policy_server.export.manifest import manifest_of
from policy_server.export.onnx_graph import to_onnx
from policy_server.export.precision import Precision, graphs_in
from policy_server.export.weights import INLINE_LIMIT_BYTES, save_graph, save_sharing
from policy_server.model.checkpoint import load_checkpoint
from policy_server.model.graphs import VIDEO_PAIR
from policy_server.model.policy import VideoActionModel

VIDEO_WEIGHTS = "video.weights"


def export_bundle(
    checkpoint_dir: Path | str,
    bundle_dir: Path | str,
    precision: Precision = "fp32",
    inline_limit: int = INLINE_LIMIT_BYTES,
    carry_checkpoint: bool = False,
    lora: Path | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> BundleManifest:
    """Write the bundle of a checkpoint and return its sealed manifest.

    `bundle_dir` is replaced if it is a bundle and appears only when complete. A graph with more than `inline_limit`
    bytes of weights gets them in a file beside it; `carry_checkpoint` adds the torch weights, so that the torch engine
    can serve the bundle too; an adapter in `lora` is merged; `progress` gets one line per graph. Raises `BundleError`
    for a broken checkpoint or adapter, or a folder that is no bundle, `ConfigurationError` for an adapter whose
    carried checkpoint would lack it.
    """
    source, target = Path(checkpoint_dir), Path(bundle_dir)
    require_replaceable(target)
    if lora is not None and carry_checkpoint:
        raise ConfigurationError(
            "lora", expected="graphs only", got="carry_checkpoint", remedy="the carried weights would lack the adapter"
        )
    checkpoint = load_checkpoint(source)
    manifest = manifest_of(checkpoint, precision)
    if lora is not None:
        manifest = _with_adapter(manifest, checkpoint.model, lora)
    partial = target.absolute().with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    write_graphs(checkpoint.model, partial, inline_limit, progress, precision)
    if carry_checkpoint:
        shutil.copytree(source, partial / CHECKPOINT_FOLDER)
    sealed = seal(partial, manifest)
    if target.exists():
        shutil.rmtree(target)
    partial.rename(target)
    return sealed


def _with_adapter(manifest: BundleManifest, model: VideoActionModel, lora: Path) -> BundleManifest:
    """The manifest that names the adapter, which is merged into the model's backbone."""
    from policy_server.model.cosmos.adapters import merge_adapter

    names = (*manifest.provenance.adapters, merge_adapter(model.backbone, lora))
    return manifest.model_copy(update={"provenance": manifest.provenance.model_copy(update={"adapters": names})})


def write_graphs(
    model: VideoActionModel,
    folder: Path,
    inline_limit: int = INLINE_LIMIT_BYTES,
    progress: Callable[[str], None] = lambda line: None,
    precision: Precision = "fp32",
) -> None:
    """Write `NAME.onnx` for every graph; the two video graphs share `video.weights`."""
    pair = {}
    for name, graph in graphs_in(model, precision).items():
        progress(f"export {name}")
        exported = to_onnx(graph)
        if name in VIDEO_PAIR:
            pair[folder / f"{name}.onnx"] = exported
        else:
            save_graph(exported, folder / f"{name}.onnx", inline_limit)
    save_sharing(pair, folder / VIDEO_WEIGHTS)


def require_replaceable(target: Path) -> None:
    """Raises `BundleError` when the folder holds something that is no bundle: it would be deleted."""
    if target.exists() and not (target.is_dir() and ((target / MANIFEST_NAME).is_file() or not any(target.iterdir()))):
        raise BundleError(
            f"{target}", expected="no folder, an empty one or a bundle", got="something else", remedy="choose another"
        )
