"""A flat picture in the twin, for calibration: on the table, or held by a hand. One is shown at a time.

The twin knows nothing of what is printed on it; who calibrates brings the picture and its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

Place = Literal["table", "left_hand", "right_hand"]

_PLACES: Final[dict[Place, tuple[str, tuple[float, float, float], tuple[tuple[float, float, float], ...]]]] = {
    # Body; origin of the picture's middle [m]; directions of the picture's right and down edges.
    "table": ("", (0.32, -0.305, 0.002), ((0.0, -1.0, 0.0), (-1.0, 0.0, 0.0))),
    "left_hand": ("left_gripper", (0.0, 0.0, 0.245), ((0.0, -1.0, 0.0), (0.0, 0.0, -1.0))),
    "right_hand": ("right_gripper", (0.0, 0.0, 0.245), ((0.0, 1.0, 0.0), (0.0, 0.0, -1.0))),
}
"""A hand holds the board by its edge, flat between the jaws, which close along the gripper's x."""
_SHOWN_GROUP: Final = 1
_HIDDEN_GROUP: Final = 5


@dataclass(frozen=True, slots=True, eq=False)
class BoardPicture:
    """Grey picture (height, width) uint8 and the size at which it lies in the twin [m]."""

    grey: NDArray[np.uint8]
    width_m: float
    height_m: float


def add_board(spec: mujoco.MjSpec, board: BoardPicture) -> None:
    """The picture at all places, hidden."""
    height, width = board.grey.shape
    texture = spec.add_texture(
        name="board", type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height, nchannel=3
    )
    texture.data = np.repeat(board.grey[..., np.newaxis], 3, axis=2).tobytes()
    # Nothing shines and everything is fully lit, so that white is white from all sides.
    material = spec.add_material(name="board", emission=0.6, specular=0.0, shininess=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "board"
    for place, (body, middle, edges) in _PLACES.items():
        _add_sheet(spec, place, spec.body(body) if body else spec.worldbody, np.array(middle), np.array(edges), board)


def show_board(model: mujoco.MjModel, place: Place | None) -> None:
    """Show it at one place, or nowhere."""
    for name in _PLACES:
        model.geom_group[model.geom(f"board_{name}").id] = _SHOWN_GROUP if name == place else _HIDDEN_GROUP


def hide_things(model: mujoco.MjModel, names: tuple[str, ...]) -> None:
    """Bodies that would stand on the board."""
    ids = {model.body(name).id for name in names}
    for geom in range(model.ngeom):
        if int(model.geom_bodyid[geom]) in ids:
            model.geom_group[geom] = _HIDDEN_GROUP


def _add_sheet(
    spec: mujoco.MjSpec,
    place: Place,
    body: mujoco.MjsBody,
    middle: NDArray[np.float64],
    edges: NDArray[np.float64],
    board: BoardPicture,
) -> None:
    right, down = edges[0] * board.width_m / 2, edges[1] * board.height_m / 2
    corners = np.array([-right - down, right - down, right + down, -right + down])
    # A mesh must have a volume; the point behind the sheet is seen by nobody.
    behind = np.cross(edges[0], edges[1]) * 0.001
    mesh = spec.add_mesh(name=f"board_{place}")
    mesh.uservert = np.vstack([corners, behind]).ravel()
    mesh.userface = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]).ravel()
    mesh.usertexcoord = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], float).ravel()
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    body.add_geom(
        name=f"board_{place}", type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"board_{place}", material="board",
        pos=middle, mass=0.0, contype=0, conaffinity=0, group=_HIDDEN_GROUP,
    )  # fmt: skip
