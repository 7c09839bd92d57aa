"""Light meshes and their cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contract.errors import ConfigurationError
from robot_client.i2rt_paths import station_mjcf
from robot_client.twin.meshes import Mesh, light_mesh, read_stl, simplify

_TIP = station_mjcf().parent / "../../arm/yam/v1/assets/tip_left.stl"


def _box(size: float, cuts: int) -> Mesh:
    """A closed box surface of many small triangles."""
    grid = np.linspace(0.0, size, cuts + 1, dtype=np.float32)
    corners: dict[tuple[float, ...], int] = {}
    faces = []
    for axis in range(3):
        for side, i, j in [(s, i, j) for s in (0.0, size) for i in range(cuts) for j in range(cuts)]:
            quad = []
            for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                point = np.insert(np.array([grid[a], grid[b]]), axis, side)
                quad.append(corners.setdefault(tuple(float(v) for v in point), len(corners)))
            quad = quad if (side > 0) == (axis != 1) else quad[::-1]
            faces += [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
    return Mesh(np.array(list(corners), np.float32), np.array(faces, np.int32))


def _volume(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(float) for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def test_a_simplified_box_keeps_its_corners_and_volume_with_far_fewer_faces() -> None:
    box = _box(0.1, 30)
    light = simplify(box, 0.03)
    assert len(light.faces) < len(box.faces) / 20
    np.testing.assert_allclose(light.vertices.min(0), 0.0, atol=5e-4)
    np.testing.assert_allclose(light.vertices.max(0), 0.1, atol=5e-4)
    assert _volume(light) == pytest.approx(_volume(box), rel=0.02)


def test_a_finger_of_the_arm_keeps_its_extent_to_a_millimetre() -> None:
    full = read_stl(_TIP.read_bytes(), "tip")
    light = simplify(full, 0.005)
    assert len(light.faces) < 800 < 31000 < len(full.faces)
    np.testing.assert_allclose(light.vertices.min(0), full.vertices.min(0), atol=2e-3)
    np.testing.assert_allclose(light.vertices.max(0), full.vertices.max(0), atol=2e-3)


def test_the_cache_gives_back_the_same_mesh_and_is_keyed_by_content_and_cell(tmp_path: Path) -> None:
    first = light_mesh(_TIP, 0.005, tmp_path)
    again = light_mesh(_TIP, 0.005, tmp_path)
    np.testing.assert_array_equal(first.vertices, again.vertices)
    np.testing.assert_array_equal(first.faces, again.faces)
    light_mesh(_TIP, 0.01, tmp_path)
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz", ".npz"]


def test_a_cache_that_cannot_be_written_still_gives_the_mesh(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert len(light_mesh(_TIP, 0.01, tmp_path / "file").faces) > 50


@pytest.mark.parametrize("data", [b"", b"solid text", bytes(84), bytes(80) + (5).to_bytes(4, "little") + bytes(50)])
def test_bytes_that_are_no_binary_stl_are_refused(data: bytes) -> None:
    with pytest.raises(ConfigurationError, match="binary STL"):
        read_stl(data, "broken.stl")
