"""Writing `policy.toml`: a sealed manifest, or a TR calibration added to one."""

from __future__ import annotations

import os
from pathlib import Path

import tomli_w

from contract.manifest import BundleManifest, TrCalibration
from policy_server.bundle import MANIFEST_NAME, checked_manifest, file_sha256, load_bundle, weights_hash


def hash_files(folder: Path) -> dict[str, str]:
    """Name (posix path inside the folder) -> sha256 of every file but `policy.toml`; hidden files are left out."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {
        name: file_sha256(path)
        for name, path in names.items()
        if name != MANIFEST_NAME and not any(part.startswith(".") for part in name.split("/"))
    }


def seal(folder: Path, manifest: BundleManifest) -> BundleManifest:
    """Write `manifest` with the hashes of the files now in `folder`; what it said of files before is replaced."""
    files = hash_files(folder)
    sealed = manifest.model_copy(update={"files": files, "weights_hash": weights_hash(files)})
    write_manifest(folder, sealed)
    return sealed


def write_manifest(folder: Path, manifest: BundleManifest) -> None:
    """Write `policy.toml` in one step: a reader sees the old file or the new one. Raises `BundleError`."""
    checked = checked_manifest(manifest.model_dump(mode="json"), folder / MANIFEST_NAME)
    text = tomli_w.dumps(checked.model_dump(mode="json", exclude_none=True))
    scratch = folder / f".{MANIFEST_NAME}.{os.getpid()}"
    scratch.write_text(text, encoding="utf-8")
    os.replace(scratch, folder / MANIFEST_NAME)


def set_calibration(
    folder: Path, calibration: TrCalibration, q_lo: float | None = None, q_hi: float | None = None
) -> BundleManifest:
    """Store TR quantiles, and the ranks of adaptive guidance if given, in `policy.toml`; the weights stay as they are.

    Raises `BundleError` for a broken bundle, and when sigma or horizon are not the policy's.
    """
    before = load_bundle(folder).manifest
    ranks = {name: value for name, value in (("q_lo", q_lo), ("q_hi", q_hi)) if value is not None}
    guidance = before.guidance.model_copy(update=ranks)
    manifest = before.model_copy(update={"tr_calibration": calibration, "guidance": guidance})
    write_manifest(folder, manifest)
    return manifest
