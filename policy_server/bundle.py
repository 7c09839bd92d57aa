"""A policy bundle: a folder with `policy.toml` and the files it lists, each checked by sha256 before it is served."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from contract.errors import BundleError, ConfigurationError
from contract.manifest import BundleManifest
from contract.toml import read_toml

MANIFEST_NAME = "policy.toml"
CHECKPOINT_FOLDER = "checkpoint"
"""Where a bundle carries the torch checkpoint that it was exported from, if it does."""
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Bundle:
    """A checked bundle. `folder` is absolute, so that a later change of working directory alters nothing."""

    folder: Path
    manifest: BundleManifest

    def path(self, name: str) -> Path:
        """Absolute path of a listed file; raises `BundleError` for one that the manifest does not list."""
        if name not in self.manifest.files:
            raise BundleError(
                f"file {name}", expected=f"one of {sorted(self.manifest.files)}", remedy="export the bundle again"
            )
        return self.folder / name


def load_bundle(folder: Path | str) -> Bundle:
    """The bundle in `folder`, every listed file present and unaltered. Raises `BundleError` in one readable line."""
    absolute = Path(folder).absolute()
    manifest = read_manifest(absolute)
    for name, expected in sorted(manifest.files.items()):
        _require_inside(name)
        _require_hash(absolute, name, expected)
    if weights_hash(manifest.files) != manifest.weights_hash:
        raise BundleError(
            f"weights_hash in {absolute / MANIFEST_NAME}",
            expected=weights_hash(manifest.files),
            got=manifest.weights_hash,
            remedy="export the bundle again",
        )
    return Bundle(absolute, manifest)


def read_manifest(folder: Path) -> BundleManifest:
    """`policy.toml` checked by itself, without the files. Raises `BundleError` naming the first field at fault."""
    path = folder / MANIFEST_NAME
    if not path.is_file():
        raise BundleError(f"bundle {folder}", expected=f"a folder with {MANIFEST_NAME}", remedy="check the path")
    try:
        content = read_toml(path)
    except ConfigurationError as error:
        raise BundleError(f"{path}", got=error, remedy="export the bundle again") from error
    return checked_manifest(content, path)


def checked_manifest(content: Mapping[str, Any], path: Path) -> BundleManifest:
    """The manifest of plain data; raises `BundleError` naming `path` and the first field at fault."""
    try:
        manifest = BundleManifest.model_validate(content)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in fault["loc"]) or "the whole file"
        raise BundleError(f"{path}, {field}", expected=fault["msg"], remedy="repair or export again") from error
    if manifest.state.kind != "absolute":
        # The measured state is absolute; statistics of anything else were computed over something else (B24).
        raise BundleError(
            f"{path}, state.kind", expected="absolute", got=manifest.state.kind, remedy="recompute the statistics"
        )
    return manifest


def file_sha256(path: Path) -> str:
    """sha256 of a file in hex, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(_CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def weights_hash(files: Mapping[str, str]) -> str:
    """sha256 over the sorted lines "sha256  name" of a file table: the name of the whole set of weights."""
    return hashlib.sha256("\n".join(sorted(f"{sha}  {name}" for name, sha in files.items())).encode()).hexdigest()


def _require_inside(name: str) -> None:
    """A name that leaves the folder (B45: "../") could be any file of the machine."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or str(path) != name:
        raise BundleError(f"file {name!r}", expected="a plain path inside the bundle", remedy="export the bundle again")


def _require_hash(folder: Path, name: str, expected: str) -> None:
    path = folder / name
    if not path.is_file():
        raise BundleError(f"{path}", expected="the file listed in policy.toml", got="none", remedy="copy it again")
    try:
        got = file_sha256(path)
    except OSError as error:
        raise BundleError(
            f"{path}", expected="a readable file", got=error.strerror, remedy="check its rights"
        ) from error
    if got != expected:
        raise BundleError(
            f"{path}",
            expected=f"sha256 {expected[:16]}..",
            got=f"{got[:16]}.. ({path.stat().st_size} bytes)",
            remedy="the file was altered, cut short or belongs to another bundle: copy or export it again",
        )
