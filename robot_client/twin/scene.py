"""The whole scene as one compiled model. It is the same for every task; a layout only moves things."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import mujoco

from robot_client.twin.arms import add_arms
from robot_client.twin.board import BoardPicture, add_board
from robot_client.twin.cameras import DEFAULT_SIZES, Size, add_cameras, checked_sizes
from robot_client.twin.props import add_places, add_things
from robot_client.twin.station import station_spec
from robot_client.twin.surroundings import add_surroundings

STEP_S: Final = 0.005


def build_model(
    sizes: Mapping[str, Size] = DEFAULT_SIZES, cache: Path | None = None, board: BoardPicture | None = None
) -> mujoco.MjModel:
    """Compile the twin, with a calibration board if there is one to show (`board.show_board`).

    `ConfigurationError` when i2rt is missing or a size is out of range.
    """
    checked = checked_sizes({**DEFAULT_SIZES, **sizes})
    spec = station_spec(cache)
    spec.modelname = "yam_twin"
    add_arms(spec)
    add_surroundings(spec)
    add_places(spec)
    add_things(spec)
    add_cameras(spec, checked)
    if board is not None:
        add_board(spec, board)
    _set_solver(spec)
    return spec.compile()


def _set_solver(spec: mujoco.MjSpec) -> None:
    option = spec.option
    option.timestep = STEP_S
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 10.0
    option.iterations = 20
    option.ls_iterations = 20
    option.tolerance = 1e-8
    # Near and far planes are multiples of the extent, so it must not depend on what happens to be in the scene.
    spec.stat.extent = 1.0
    spec.stat.center = [0.3, -0.305, 0.2]
