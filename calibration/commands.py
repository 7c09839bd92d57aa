"""The commands of `yam-calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from calibration.asked import PICTURES, ROLES, Rig, Role, board_of, say_stored, views_of
from calibration.upkeep import check, tr

app = tyro.extras.SubcommandApp()
app.command(tr)
app.command(check)


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
def intrinsics(
    rig: Rig = "twin",
    station: str = "twin",
    roles: tuple[Role, ...] = ROLES,
    board: Path | None = None,
    data: Path | None = None,
    keep: Path | None = None,
    views: int = 30,
    out: Path | None = None,
) -> None:
    """Focal lengths, principal point and distortion of cameras.

    Args:
        rig: twin (simulated), station (real arms; asks for what a person must do) or data (a folder of views).
        station: station by name, or its file.
        roles: which cameras.
        board: board file; default: the one that the twin shows.
        data: folder of views for --rig data (docs/calibration.md).
        keep: folder to store the views in.
        views: how many of each camera, and of each arm for the top camera.
        out: station file to write; default: the station's own.
    """
    from calibration import measure
    from calibration.section import merged, store

    used = board_of(board)
    found = views_of(rig, station, board, roles, data, keep, views)
    changes: dict[str, Any] = {}
    for role in roles:
        own, lines = measure.intrinsics(used, role, [view for view in found if view.role == role], PICTURES)
        print("\n".join(lines))
        changes = merged(changes, own)
    say_stored(store(station, out, changes), out, station)


@app.command(name="hand-eye")
def hand_eye(
    rig: Rig = "twin",
    station: str = "twin",
    roles: tuple[Role, ...] = ROLES,
    board: Path | None = None,
    data: Path | None = None,
    keep: Path | None = None,
    views: int = 25,
    out: Path | None = None,
) -> None:
    """Where the cameras sit, and how the bases of the arms stand to each other. Needs intrinsics in the station.

    Args:
        rig: twin (simulated), station (real arms) or data (a folder of views).
        station: station by name, or its file.
        roles: which cameras.
        board: board file; default: the one that the twin shows.
        data: folder of views for --rig data.
        keep: folder to store the views in.
        views: poses of each camera and arm.
        out: station file to write; default: the station's own.
    """
    from calibration import measure
    from calibration.section import store
    from contract.station import load_station

    stored = load_station(station).calibration
    lenses = {} if stored is None else {role: measure.lens_of(lens) for role, lens in stored.intrinsics.items()}
    found = views_of(rig, station, board, roles, data, keep, views)
    changes, lines, _ = measure.mounts(board_of(board), lenses, found, PICTURES)
    print("\n".join(lines))
    say_stored(store(station, out, changes), out, station)


@app.command
def arms(rig: Literal["twin", "station"] = "twin", station: str = "twin", board: Path | None = None,
         out: Path | None = None) -> None:  # fmt: skip
    """Joint directions, left and right, gripper travel and zeros, by small slow motions.

    Args:
        rig: twin (simulated) or station (real arms).
        station: station by name, or its file.
        board: board file; needed with real arms.
        out: station file to write; default: the station's own.
    """
    from calibration import measure
    from calibration.section import store
    from calibration.session import opened

    with opened(rig, station, board_of(board)) as session:
        changes, lines = measure.arms(session, PICTURES, print)
    print("\n".join(lines))
    say_stored(store(station, out, changes), out, station)


@app.command
def latency(
    rig: Literal["twin", "station"] = "twin",
    station: str = "twin",
    roles: tuple[Role, ...] = ROLES,
    board: Path | None = None,
    seconds: float = 5.0,
    out: Path | None = None,
) -> None:
    """Delays of cameras, arms and grippers, while one channel moves to and fro.

    Args:
        rig: twin (simulated) or station (real arms).
        station: station by name, or its file.
        roles: which cameras.
        board: board file; needed with real arms.
        seconds: of each motion.
        out: station file to write; default: the station's own.
    """
    from calibration import measure
    from calibration.section import store
    from calibration.session import opened

    with opened(rig, station, board_of(board), 200.0) as session:
        changes, lines = measure.latencies(session, PICTURES, roles, seconds)
    print("\n".join(lines))
    say_stored(store(station, out, changes), out, station)
