"""Table, gantry, floor, sky and light: what no task moves."""

from __future__ import annotations

from typing import Final

import mujoco

from robot_client.twin.contacts import FIXED_BITS, UNTOUCHABLE
from robot_client.twin.props import add_fixed
from robot_client.twin.things import TABLE_CENTRE_M, TABLE_HALF_M

_FLOOR_Z_M: Final = -0.75
_TABLE_RGBA: Final = (0.40, 0.44, 0.48, 1.0)
_METAL_RGBA: Final = (0.28, 0.30, 0.33, 1.0)


def add_surroundings(spec: mujoco.MjSpec) -> None:
    """Table, floor, gantry, sky and light."""
    x, y = TABLE_CENTRE_M
    add_fixed(spec.worldbody, "table", (x, y, -0.02), (*TABLE_HALF_M, 0.02), _TABLE_RGBA)
    _add_gantry(spec)
    _add_floor(spec)
    spec.worldbody.add_light(
        name="sun",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[0.9, 0.6, 2.2],
        dir=[-0.35, -0.45, -1.0],
        diffuse=[0.55, 0.54, 0.52],
        specular=[0.15, 0.15, 0.15],
        castshadow=True,
    )
    spec.visual.quality.shadowsize = 2048
    spec.visual.map.shadowclip = 3.0
    spec.visual.headlight.ambient = [0.36, 0.36, 0.38]
    spec.visual.headlight.diffuse = [0.30, 0.30, 0.30]
    spec.visual.headlight.specular = [0.05, 0.05, 0.05]


def _add_gantry(spec: mujoco.MjSpec) -> None:
    """Two posts and the crossbar that carries the top camera; for the eye only."""
    y = TABLE_CENTRE_M[1]
    for i, side in enumerate((-1, 1)):
        _add_bar(spec, f"post {i}", (-0.22, y + side * 0.58, 0.48), (0.02, 0.02, 0.50))
        _add_bar(spec, f"leg {i}", (-0.10, y + side * 0.56, -0.39), (0.03, 0.03, 0.355))
        _add_bar(spec, f"front leg {i}", (0.62, y + side * 0.56, -0.39), (0.03, 0.03, 0.355))
    _add_bar(spec, "crossbar", (-0.22, y, 0.96), (0.02, 0.60, 0.02))


def _add_bar(spec: mujoco.MjSpec, name: str, centre: tuple[float, ...], half: tuple[float, ...]) -> None:
    spec.worldbody.add_geom(
        name=name, type=mujoco.mjtGeom.mjGEOM_BOX, pos=centre, size=half, rgba=_METAL_RGBA, **UNTOUCHABLE
    )


def _add_floor(spec: mujoco.MjSpec) -> None:
    """A floor that catches what falls, under a sky, so that no camera ever sees black."""
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.80, 0.85, 0.90],
        rgb2=[0.55, 0.62, 0.70],
        width=128,
        height=128,
    )
    spec.add_texture(
        name="tiles",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.70, 0.71, 0.72],
        rgb2=[0.64, 0.65, 0.67],
        width=128,
        height=128,
    )
    material = spec.add_material(name="floor", texrepeat=[12, 12])
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "tiles"
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=[0, 0, _FLOOR_Z_M],
        size=[4, 4, 0.1],
        material="floor",
        **FIXED_BITS,
    )
