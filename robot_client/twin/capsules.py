"""Fits capsules around the meshes of i2rt's arm and writes calibration/arms/NAME.toml.

    python -m robot_client.twin.capsules calibration/arms/yam_linear_4310.toml

Run once per model of the arm; safety reads the numbers and never a mesh. Triangles of a link are divided among its
capsules; each capsule contains the corners of its triangles, and as it is convex, the triangles.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from contract.layout import GRIPPER_TRAVEL_M
from robot_client.i2rt_paths import STATION, station_mjcf

PADDING_M: Final = 0.003
"""Added to each radius: cables' ties, screws' heads, and rounding to 0.1 mm."""
_ARM: Final = "left"
_PARTS: Final = (
    ("base", "base", ("base",), 1),
    ("link1", "link1", ("link1",), 1),
    ("link2", "link2", ("link2",), 1),
    ("link3", "link3", ("link3",), 2),
    ("link4", "link4", ("link4",), 2),
    ("link5", "link5", ("link5",), 1),
    ("gripper", "gripper", ("gripper",), 1),
    ("camera", "gripper", ("camera",), 1),
    ("finger", "gripper", ("tip_left", "tip_right"), 2),
)
"""Name, link, bodies of the model, number of capsules."""

Points = NDArray[np.float64]


def main() -> int:
    """Writes the file named on the command line."""
    if len(sys.argv) != 2:
        print("usage: python -m robot_client.twin.capsules FILE.toml", file=sys.stderr)
        return 2
    Path(sys.argv[1]).write_text(_text(sys.argv[1], fitted()))
    return 0


def fitted() -> list[tuple[str, str, Points, float]]:
    """Name, link, ends (2, 3) [m] in the link's frame, and padded radius [m] of every capsule."""
    found = []
    for name, link, bodies, count in _PARTS:
        triangles = np.concatenate([part for body in bodies for part in corners_of(link, body)])
        for i, group in enumerate(_divided(triangles, count)):
            ends, radius = enclosing(group.reshape(-1, 3))
            found.append((name if count == 1 else f"{name}_{i + 1}", link, ends, radius + PADDING_M))
    return found


def corners_of(link: str, body: str) -> list[Points]:
    """Triangles (T, 3, 3) of a body in the frame of the link it belongs to; sliding fingers closed, and open."""
    model = mujoco.MjModel.from_xml_path(str(station_mjcf()))
    data = mujoco.MjData(model)
    placed = []
    for opening in (0.0, GRIPPER_TRAVEL_M) if body.startswith("tip") else (0.0,):
        for number in (7, 8):
            data.joint(f"{_ARM}_joint{number}").qpos[0] = opening
        mujoco.mj_kinematics(model, data)
        origin, frame = data.body(f"{_ARM}_{link}").xpos, data.body(f"{_ARM}_{link}").xmat.reshape(3, 3)
        placed.append((_world_triangles(model, data, f"{_ARM}_{body}") - origin) @ frame)
    return placed


def _world_triangles(model: mujoco.MjModel, data: mujoco.MjData, body: str) -> Points:
    geom = int(model.body(body).geomadr[0])
    mesh = model.geom_dataid[geom]
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    face, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    vertices = model.mesh_vert[first : first + count] @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
    return vertices[model.mesh_face[face : face + faces]].astype(np.float64)


def _divided(triangles: Points, count: int) -> list[Points]:
    if count == 1:
        return [triangles]
    label = kmeans2(triangles.mean(axis=1), count, minit="++", rng=np.random.default_rng(0))[1]
    return [triangles[label == i] for i in range(count) if (label == i).any()]


def enclosing(points: Points) -> tuple[Points, float]:
    """Ends (2, 3) and radius of the smallest capsule found around the points (P, 3), begun along three axes."""
    hull = points[ConvexHull(points).vertices]
    middle = hull.mean(axis=0)
    found = []
    for axis in np.linalg.svd(hull - middle, full_matrices=False)[2]:
        along = (hull - middle) @ axis
        ends = np.concatenate([middle + axis * along.min() * 0.7, middle + axis * along.max() * 0.7])
        for _ in range(3):
            ends = minimize(_volume, ends, (hull,), "Nelder-Mead", options={"maxiter": 3000, "maxfev": 3000}).x
        found.append(np.round(ends.reshape(2, 3), 4))
    smallest = min(found, key=lambda ends: _volume(ends.ravel(), hull))
    return smallest, float(distance_to_line(points, smallest).max())


def distance_to_line(points: Points, ends: Points) -> Points:
    """(P,) [m] from points (P, 3) to the piece of line between ends (2, 3)."""
    way = ends[1] - ends[0]
    along = np.clip((points - ends[0]) @ way / max(float(way @ way), 1e-18), 0.0, 1.0)
    return np.linalg.norm(points - ends[0] - along[:, None] * way, axis=1)


def _volume(flat: Points, hull: Points) -> float:
    ends = flat.reshape(2, 3)
    radius = float(distance_to_line(hull, ends).max())
    return float(np.pi * radius**2 * (np.linalg.norm(ends[1] - ends[0]) + 4.0 * radius / 3.0))


def _text(path: str, capsules: list[tuple[str, str, Points, float]]) -> str:
    lines = [
        "# Capsules around an arm, for safety's distances. Written by the command below; do not edit, run it again.",
        "format = 1",
        f'model = "i2rt {STATION}"',
        f'made_with = "python -m robot_client.twin.capsules {path}"',
        f"padding_m = {PADDING_M}",
    ]
    for name, link, ends, radius in capsules:
        lines += ["", "[[capsules]]", f'name = "{name}"', f'link = "{link}"']
        lines += [
            f"{key} = {[round(float(x), 4) for x in end]}" for key, end in zip(("from_m", "to_m"), ends, strict=True)
        ]
        lines += [f"radius_m = {np.ceil(radius * 1e4) / 1e4:.4f}"]
        lines += ["finger = true"] if name.startswith("finger") else []
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
