"""Which files a graph is made of, and their hash: an engine is as good as the sources it was built from."""

from __future__ import annotations

import hashlib
from pathlib import Path

from policy_server.bundle import Bundle, file_sha256
from policy_server.engines.base import GRAPHS
from policy_server.engines.onnx_files import external_locations


def graph_names(bundle: Bundle) -> tuple[str, ...]:
    """Graphs of a bundle, in the order in which a replan uses them."""
    return tuple(name for name in GRAPHS if f"{name}.onnx" in bundle.manifest.files)


def source_files(bundle: Bundle, graph: str) -> tuple[Path, ...]:
    """The ONNX file and the weights beside it. Raises `BundleError` for weights that the manifest does not list."""
    path = bundle.path(f"{graph}.onnx")
    return path, *(bundle.path(name) for name in sorted(external_locations(path)))


def source_sha256(bundle: Bundle, graph: str) -> str:
    """sha256 over the lines "sha256  name" of a graph's files."""
    lines = [f"{file_sha256(path)}  {path.name}" for path in source_files(bundle, graph)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
