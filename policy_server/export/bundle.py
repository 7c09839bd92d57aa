"""A checkpoint to a complete bundle folder: every graph, shared weights, `policy.toml` with the sha256 of each file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from contract.errors import BundleError
from contract.manifest import BundleManifest
from policy_server.bundle import MANIFEST_NAME
from policy_server.bundle_writer import seal
from policy_server.export.manifest import manifest_of
from policy_server.export.onnx_graph import to_onnx
from policy_server.export.precision import Precision, graphs_in
from policy_server.export.weights import INLINE_LIMIT_BYTES, save_graph, save_sharing
from policy_server.model.checkpoint import CHECKPOINT_FOLDER, load_checkpoint
from policy_server.model.graphs import VIDEO_PAIR
from policy_server.model.policy import VideoActionModel

VIDEO_WEIGHTS = "video.weights"


def export_bundle(
    checkpoint_dir: Path | str,
    bundle_dir: Path | str,
    precision: Precision = "fp32",
    inline_limit: int = INLINE_LIMIT_BYTES,
    carry_checkpoint: bool = False,
    progress: Callable[[str], None] = lambda line: None,
) -> BundleManifest:
    """Write the bundle of a checkpoint and return its sealed manifest.

    `bundle_dir` is replaced if it is a bundle and appears only when complete. A graph with more than `inline_limit`
    bytes of weights gets them in a file beside it; `carry_checkpoint` adds the torch weights, so that the torch engine
    can serve the bundle too; `progress` gets one line per graph. Raises `BundleError` for a broken checkpoint or a
    folder that is no bundle.
    """
    source, target = Path(checkpoint_dir), Path(bundle_dir)
    require_replaceable(target)
    checkpoint = load_checkpoint(source)
    manifest = manifest_of(checkpoint, precision)
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
