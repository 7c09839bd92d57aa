"""i2rt's station model as the start of a scene: light meshes, calm colours, nothing that collides."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import mujoco

from robot_client.i2rt_paths import station_mjcf
from robot_client.twin.meshes import light_mesh

_CELL_M: Final = 0.008
_FINE_CELL_M: Final = 0.005
_FINE: Final = ("tip_left", "tip_right", "d405_wrist_linear_4310")
"""What a wrist camera sees from nearby, or has thin parts."""

_SHELL: Final = (0.86, 0.87, 0.89, 1.0)
_JOINT: Final = (0.20, 0.21, 0.23, 1.0)
_COLOURS: Final = {
    "base": _JOINT,
    "link1": _JOINT,
    "link2": _SHELL,
    "link3": _SHELL,
    "link4": _JOINT,
    "link5": _SHELL,
    "gripper": _JOINT,
    "tip_left": (0.10, 0.11, 0.12, 1.0),
    "tip_right": (0.10, 0.11, 0.12, 1.0),
}
_CAMERA_COLOUR: Final = (0.55, 0.57, 0.60, 1.0)


def station_spec(cache: Path | None = None) -> mujoco.MjSpec:
    """The dual-arm station: kinematics and looks, no actuators, cameras or collisions yet."""
    path = station_mjcf()
    spec = mujoco.MjSpec.from_file(str(path))
    for mesh in spec.meshes:
        light = light_mesh(path.parent / mesh.file, _FINE_CELL_M if mesh.name in _FINE else _CELL_M, cache)
        mesh.file = ""
        mesh.uservert = light.vertices.ravel()
        mesh.userface = light.faces.ravel()
        # The shell's own inertia is never used (bodies carry theirs), and open shells have no volume.
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
        geom.group = 2
        geom.rgba = _COLOURS.get(geom.meshname, _CAMERA_COLOUR)
    for site in spec.sites:
        site.group = 4
    return spec
