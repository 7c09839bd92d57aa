"""Everything on and around the table: things, places, table, gantry, floor, light."""

from __future__ import annotations

import math
from typing import Final

import mujoco
import numpy as np

from robot_client.twin.contacts import FIXED_BITS, SOLIMP, SOLREF, THING_BITS, UNTOUCHABLE
from robot_client.twin.things import PLACES, TABLE_CENTRE_M, TABLE_HALF_M, THING_MASS_KG, THINGS, Place, Rgb

_BOX: Final = mujoco.mjtGeom.mjGEOM_BOX
_KIND: Final = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "ball": mujoco.mjtGeom.mjGEOM_SPHERE,
}
_THING_FRICTION: Final = (1.0, 0.01, 0.003)
_FLOOR_Z_M: Final = -0.75
_WALLS: Final = 12
_TABLE_RGBA: Final = (0.40, 0.44, 0.48, 1.0)
_METAL_RGBA: Final = (0.28, 0.30, 0.33, 1.0)


def add_things(spec: mujoco.MjSpec) -> None:
    """The movable objects, free bodies named as in the instructions."""
    for name, thing in THINGS.items():
        body = spec.worldbody.add_body(name=name)
        body.add_freejoint(name=name)
        body.add_geom(
            name=name,
            type=_KIND[thing.kind],
            size=thing.half_size_m,
            mass=THING_MASS_KG,
            rgba=(*thing.colour, 1.0),
            condim=6,
            friction=_THING_FRICTION,
            solref=SOLREF,
            solimp=SOLIMP,
            **THING_BITS,
        )


def add_places(spec: mujoco.MjSpec) -> None:
    """The receptacles: mocap bodies, so a layout moves them and nothing else does."""
    for name, place in PLACES.items():
        body = spec.worldbody.add_body(name=name, mocap=True)
        if place.round:
            _add_round(body, name, place)
        else:
            _add_walled(body, name, place)


def add_surroundings(spec: mujoco.MjSpec) -> None:
    """Table, floor, gantry, sky and light."""
    x, y = TABLE_CENTRE_M
    _add_fixed(spec.worldbody, "table", (x, y, -0.02), (*TABLE_HALF_M, 0.02), _TABLE_RGBA)
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


def _add_walled(body: mujoco.MjsBody, name: str, place: Place) -> None:
    (x, y), wall, high = place.inner_m, place.wall_m, place.wall_height_m
    rgba = (*place.colour, 1.0)
    floor_rgba = (*_darker(place.colour), 1.0)
    _add_fixed(body, f"{name} floor", (0, 0, place.floor_m / 2), (x + wall, y + wall, place.floor_m / 2), floor_rgba)
    for i, side in enumerate((1, -1)):
        _add_fixed(body, f"{name} wall {i}", (side * (x + wall / 2), 0, high / 2), (wall / 2, y + wall, high / 2), rgba)
        _add_fixed(body, f"{name} wall {i + 2}", (0, side * (y + wall / 2), high / 2), (x, wall / 2, high / 2), rgba)


def _add_round(body: mujoco.MjsBody, name: str, place: Place) -> None:
    """A disc and a ring of boxes; a high wall leans outward, as a bowl's does."""
    radius, half_floor = place.inner_m[0], place.floor_m / 2
    body.add_geom(
        name=f"{name} floor",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=[0, 0, half_floor],
        size=[radius + place.wall_m / 2, half_floor, 0],
        rgba=(*_darker(place.colour), 1.0),
        friction=_THING_FRICTION,
        **FIXED_BITS,
    )
    lean = 0.35 if place.wall_height_m > 0.02 else 0.0
    for i in range(_WALLS):
        angle = 2 * math.pi * i / _WALLS
        out = radius + place.wall_m / 2
        half = (place.wall_m / 2, (out + place.wall_m) * math.tan(math.pi / _WALLS), place.wall_height_m / 2)
        wall = _add_fixed(
            body,
            f"{name} wall {i}",
            (out * math.cos(angle), out * math.sin(angle), place.wall_height_m / 2),
            half,
            (*place.colour, 1.0),
        )
        wall.quat = _turned(angle, lean)


def _turned(angle: float, lean: float) -> np.ndarray:
    about_z = np.array([math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)])
    about_y = np.array([math.cos(lean / 2), 0.0, math.sin(lean / 2), 0.0])
    quaternion = np.zeros(4)
    mujoco.mju_mulQuat(quaternion, about_z, about_y)
    return quaternion


def _add_gantry(spec: mujoco.MjSpec) -> None:
    """Two posts and the crossbar that carries the top camera; for the eye only."""
    y = TABLE_CENTRE_M[1]
    for i, side in enumerate((-1, 1)):
        _add_bar(spec, f"post {i}", (-0.22, y + side * 0.58, 0.48), (0.02, 0.02, 0.50))
        _add_bar(spec, f"leg {i}", (-0.10, y + side * 0.56, -0.39), (0.03, 0.03, 0.355))
        _add_bar(spec, f"front leg {i}", (0.62, y + side * 0.56, -0.39), (0.03, 0.03, 0.355))
    _add_bar(spec, "crossbar", (-0.22, y, 0.96), (0.02, 0.60, 0.02))


def _add_bar(spec: mujoco.MjSpec, name: str, centre: tuple[float, ...], half: tuple[float, ...]) -> None:
    spec.worldbody.add_geom(name=name, type=_BOX, pos=centre, size=half, rgba=_METAL_RGBA, **UNTOUCHABLE)


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


def _add_fixed(
    body: mujoco.MjsBody,
    name: str,
    centre: tuple[float, float, float],
    half: tuple[float, float, float],
    rgba: tuple[float, float, float, float],
) -> mujoco.MjsGeom:
    return body.add_geom(
        name=name,
        type=_BOX,
        pos=centre,
        size=half,
        rgba=rgba,
        friction=_THING_FRICTION,
        solref=SOLREF,
        solimp=SOLIMP,
        **FIXED_BITS,
    )


def _darker(colour: Rgb) -> Rgb:
    return (0.8 * colour[0], 0.8 * colour[1], 0.8 * colour[2])
