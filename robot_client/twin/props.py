"""What stands on the table: the movable things and their places."""

from __future__ import annotations

import math
from typing import Final

import mujoco
import numpy as np

from robot_client.twin.contacts import FIXED_BITS, SOLIMP, SOLREF, THING_BITS
from robot_client.twin.things import PLACES, THING_MASS_KG, THINGS, Place, Rgb

_BOX: Final = mujoco.mjtGeom.mjGEOM_BOX
_KIND: Final = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "ball": mujoco.mjtGeom.mjGEOM_SPHERE,
}
THING_FRICTION: Final = (1.0, 0.01, 0.003)
_WALLS: Final = 12


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
            friction=THING_FRICTION,
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


def _add_walled(body: mujoco.MjsBody, name: str, place: Place) -> None:
    (x, y), wall, high = place.inner_m, place.wall_m, place.wall_height_m
    rgba = (*place.colour, 1.0)
    floor_rgba = (*_darker(place.colour), 1.0)
    add_fixed(body, f"{name} floor", (0, 0, place.floor_m / 2), (x + wall, y + wall, place.floor_m / 2), floor_rgba)
    for i, side in enumerate((1, -1)):
        add_fixed(body, f"{name} wall {i}", (side * (x + wall / 2), 0, high / 2), (wall / 2, y + wall, high / 2), rgba)
        add_fixed(body, f"{name} wall {i + 2}", (0, side * (y + wall / 2), high / 2), (x, wall / 2, high / 2), rgba)


def _add_round(body: mujoco.MjsBody, name: str, place: Place) -> None:
    """A disc and a ring of boxes; a high wall leans outward, as a bowl's does."""
    radius, half_floor = place.inner_m[0], place.floor_m / 2
    body.add_geom(
        name=f"{name} floor",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=[0, 0, half_floor],
        size=[radius + place.wall_m / 2, half_floor, 0],
        rgba=(*_darker(place.colour), 1.0),
        friction=THING_FRICTION,
        **FIXED_BITS,
    )
    lean = 0.35 if place.wall_height_m > 0.02 else 0.0
    for i in range(_WALLS):
        angle = 2 * math.pi * i / _WALLS
        out = radius + place.wall_m / 2
        half = (place.wall_m / 2, (out + place.wall_m) * math.tan(math.pi / _WALLS), place.wall_height_m / 2)
        wall = add_fixed(
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


def add_fixed(
    body: mujoco.MjsBody,
    name: str,
    centre: tuple[float, float, float],
    half: tuple[float, float, float],
    rgba: tuple[float, float, float, float],
) -> mujoco.MjsGeom:
    """A box that things and fingers touch and that never moves."""
    return body.add_geom(
        name=name,
        type=_BOX,
        pos=centre,
        size=half,
        rgba=rgba,
        friction=THING_FRICTION,
        solref=SOLREF,
        solimp=SOLIMP,
        **FIXED_BITS,
    )


def _darker(colour: Rgb) -> Rgb:
    return (0.8 * colour[0], 0.8 * colour[1], 0.8 * colour[2])
