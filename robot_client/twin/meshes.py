"""Light copies of i2rt's meshes, cached by content, so that rendering keeps up with real time.

i2rt's station has 164,000 triangles, most of them in screw holes. Vertices are merged cell by cell and each merged
vertex is put where it best fits the planes around it (quadric clustering: Lindstrom, Out-of-core simplification,
SIGGRAPH 2000), which keeps flat faces flat and closes holes smaller than a cell. The copies live in the user's cache,
never in the repository.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ConfigurationError

_METHOD: Final = b"quadric-clustering-1"
_TRIANGLE: Final = np.dtype([("normal", "<3f4"), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_STL_HEAD_SIZE: Final = 84


@dataclass(frozen=True, slots=True)
class Mesh:
    """Vertices (V, 3) float32 [m] and faces (F, 3) int32, counter-clockwise from outside."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]


def light_mesh(path: Path, cell_m: float, cache: Path | None = None) -> Mesh:
    """The mesh of a binary STL file with vertices merged on a grid of `cell_m`, from the cache when it is there."""
    source = path.read_bytes()
    key = hashlib.sha256(_METHOD + np.float64(cell_m).tobytes() + source).hexdigest()
    cached = (cache or cache_directory()) / f"{key}.npz"
    if cached.is_file():
        with np.load(cached, allow_pickle=False) as arrays:
            return Mesh(arrays["vertices"], arrays["faces"])
    mesh = simplify(read_stl(source, path.name), cell_m)
    _store(cached, mesh)
    return mesh


def cache_directory() -> Path:
    """`$XDG_CACHE_HOME/yam-policy/meshes`, by default under `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "yam-policy" / "meshes"


def read_stl(data: bytes, name: str) -> Mesh:
    """A binary STL with equal vertices merged; `ConfigurationError` when the bytes are something else."""
    count = int.from_bytes(data[80:_STL_HEAD_SIZE], "little")
    if len(data) != _STL_HEAD_SIZE + count * _TRIANGLE.itemsize or count == 0:
        raise ConfigurationError(
            f"mesh {name}", expected="a binary STL", got=f"{len(data)} bytes", remedy="reinstall dreamscale-i2rt"
        )
    corners = np.frombuffer(data, _TRIANGLE, count, _STL_HEAD_SIZE)["corners"].reshape(-1, 3)
    vertices, label = np.unique(corners, axis=0, return_inverse=True)
    return Mesh(vertices, label.reshape(-1, 3).astype(np.int32))


def simplify(mesh: Mesh, cell_m: float) -> Mesh:
    """Merge the vertices of each cell of a grid into one, at the point nearest to the planes of the faces around."""
    vertices = mesh.vertices.astype(np.float64)
    cells = np.floor((vertices - vertices.min(axis=0)) / cell_m).astype(np.int64)
    label = np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1)
    return _compact(_representatives(vertices, mesh.faces, label, cell_m), label[mesh.faces])


def _representatives(
    vertices: NDArray[np.float64], faces: NDArray[np.int32], label: NDArray[np.int64], cell_m: float
) -> NDArray[np.float64]:
    """One point (K, 3) per cluster: least squares over area-weighted planes, pulled softly to the cluster's mean."""
    count = np.bincount(label)
    mean = np.stack([np.bincount(label, axis) for axis in vertices.T], axis=1) / count[:, None]
    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normal, axis=1)
    normal /= np.maximum(area, 1e-18)[:, None]
    planes = np.zeros((len(count), 3, 3))
    pull = np.zeros((len(count), 3))
    for corner in range(3):
        owner = label[faces[:, corner]]
        distance = np.einsum("ij,ij->i", corners[:, corner] - mean[owner], normal)
        np.add.at(planes, owner, area[:, None, None] * normal[:, :, None] * normal[:, None, :])
        np.add.at(pull, owner, (area * distance)[:, None] * normal)
    softness = np.maximum(1e-3 * np.trace(planes, axis1=1, axis2=2), 1e-15)
    step = np.linalg.solve(planes + softness[:, None, None] * np.eye(3), pull[:, :, None])[:, :, 0]
    length = np.maximum(np.linalg.norm(step, axis=1), 1e-12)
    return mean + step * np.minimum(1.0, cell_m / length)[:, None]


def _compact(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> Mesh:
    """Drop faces that collapsed, repeat, or lie back to back, then vertices nobody uses."""
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (a != c)]
    first = np.argmin(faces, axis=1)
    turned = np.stack([np.take_along_axis(faces, ((first + i) % 3)[:, None], 1)[:, 0] for i in range(3)], axis=1)
    faces = np.unique(turned, axis=0)
    _, same, times = np.unique(np.sort(faces, axis=1), axis=0, return_inverse=True, return_counts=True)
    faces = faces[times[same.reshape(-1)] == 1]
    used, label = np.unique(faces, return_inverse=True)
    return Mesh(vertices[used].astype(np.float32), label.reshape(-1, 3).astype(np.int32))


def _store(path: Path, mesh: Mesh) -> None:
    """Write beside and rename; a cache that cannot be written costs time, nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
            np.savez(file, vertices=mesh.vertices, faces=mesh.faces)
        os.replace(file.name, path)
    except OSError:
        return
