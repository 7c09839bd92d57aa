"""The commands of `yam-calibrate` that measure and store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import tyro

from calibration.asked import (
    PICTURES,
    ROLES,
    Cell,
    Flat,
    Looks,
    Out,
    Role,
    board_of,
    collected,
    lenses_of,
    say_stored,
    views_of,
)
from calibration.station_file import gripper, workspace
from calibration.upkeep import check, tr

app = tyro.extras.SubcommandApp()
app.command(tr)
app.command(check)
app.command(workspace)
app.command(gripper)


@app.command
def board(
    file: Annotated[Path | None, tyro.conf.Positional] = None, out: Path = Path("out/calibration/board.pdf")
) -> None:
    """Print a board at true size.

    Args:
        file: board file (docs/calibration.md); default: the one that the twin shows.
        out: a .pdf or .png.
    """
    from calibration.board import save_print

    width_m, height_m = save_print(board_of(file), out)
    print(f"{out}: {1e3 * width_m:.1f} x {1e3 * height_m:.1f} mm. Print at 100 %, glue it flat, and measure a square.")


@app.command
def intrinsics(looks: Annotated[Looks, Flat], views: int = 30, out: Out = None) -> None:
    """Focal lengths, principal point and distortion of cameras.

    Args:
        views: how many of each camera, and of each arm for the top camera.
    """
    from calibration import measure
    from calibration.section import merged, store

    used = board_of(looks.board)
    found = views_of(looks, views)
    changes: dict[str, Any] = {}
    for role in looks.roles:
        own, lines = measure.intrinsics(used, role, [view for view in found if view.role == role], PICTURES)
        print("\n".join(lines))
        changes = merged(changes, own)
    say_stored(store(looks.station, out, changes), out, looks.station)


@app.command(name="hand-eye")
def hand_eye(looks: Annotated[Looks, Flat], views: int = 25, out: Out = None) -> None:
    """Where the cameras sit, how the bases of the arms stand to each other, and zeros of joints. Needs intrinsics.

    Args:
        views: poses of each camera and arm.
    """
    from calibration import measure
    from calibration.section import merged, store
    from calibration.zero_check import zeros_of
    from contract.station import load_station

    loaded = load_station(looks.station)
    used, lenses = board_of(looks.board), lenses_of(loaded)
    measure.require_lenses(lenses, looks.roles)
    found = views_of(looks, views)
    zeros, lines = zeros_of(used, lenses, found, loaded.safety.space, PICTURES)
    print("\n".join(lines))
    changes, lines, _ = measure.mounts(used, lenses, found, PICTURES)
    print("\n".join(lines))
    say_stored(store(looks.station, out, merged(changes, zeros)), out, looks.station)


@app.command
def arms(cell: Annotated[Cell, Flat], views: int = 12, out: Out = None) -> None:
    """Joint directions, left and right, gripper travel; and zeros by sight, once the cameras' lenses are known.

    Args:
        views: for the zeros, of each camera and arm; 0: none.
    """
    from calibration import measure
    from calibration.section import merged, store
    from calibration.session import opened, require_board
    from calibration.zero_check import zeros_of

    require_board(cell.rig, cell.board)
    with opened(cell.rig, cell.station, board_of(cell.board)) as session:
        lenses = lenses_of(session.station)
        changes, lines = measure.arms(session, PICTURES, print)
        print("\n".join(lines))
        seen = views and set(ROLES) <= set(lenses)
        found = collected(session, ROLES, views) if seen else []
    if found:
        zeros, lines = zeros_of(session.board, lenses, found, session.station.safety.space, PICTURES)
        print("\n".join(lines))
        changes = merged(changes, zeros)
    else:
        print("zeros of the motors: not looked at; run yam-calibrate intrinsics, then this again or hand-eye")
    say_stored(store(cell.station, out, changes), out, cell.station)


@app.command
def latency(
    cell: Annotated[Cell, Flat], roles: tuple[Role, ...] = ROLES, seconds: float = 5.0, out: Out = None
) -> None:
    """Delays of cameras, arms and grippers, while one channel moves to and fro.

    Args:
        roles: which cameras; none: arms and grippers alone.
        seconds: of each motion.
    """
    from calibration import delays
    from calibration.section import store
    from calibration.session import opened, require_board

    require_board(cell.rig, cell.board)
    with opened(cell.rig, cell.station, board_of(cell.board), delays.LOOP_HZ) as session:
        found = delays.measured(session, roles, seconds)
    print("\n".join(delays.said(found)))
    delays.drawn(found, PICTURES)
    say_stored(store(cell.station, out, {"latencies": delays.entries(found)}), out, cell.station)
