"""The commands of `yam-calibrate`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

Rig = Literal["twin", "station", "data"]
Role = Literal["top", "left_wrist", "right_wrist"]
ROLES: tuple[Role, ...] = ("top", "left_wrist", "right_wrist")
PICTURES = Path("out/calibration")

app = tyro.extras.SubcommandApp()


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

    width_m, height_m = save_print(_board(file), out)
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
    from calibration.section import store

    used = _board(board)
    found = _views(rig, station, board, roles, data, keep, views)
    changes: dict[str, Any] = {}
    for role in roles:
        own, lines = measure.intrinsics(used, role, [view for view in found if view.role == role], PICTURES)
        print("\n".join(lines))
        changes = _merged(changes, own)
    _stored(store(station, out, changes), out, station)


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
    found = _views(rig, station, board, roles, data, keep, views)
    changes, lines, _ = measure.mounts(_board(board), lenses, found, PICTURES)
    print("\n".join(lines))
    _stored(store(station, out, changes), out, station)


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

    with opened(rig, station, _board(board)) as session:
        changes, lines = measure.arms(session, PICTURES, print)
    print("\n".join(lines))
    _stored(store(station, out, changes), out, station)


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

    with opened(rig, station, _board(board), 200.0) as session:
        changes, lines = measure.latencies(session, PICTURES, roles, seconds)
    print("\n".join(lines))
    _stored(store(station, out, changes), out, station)


@app.command
def tr(
    bundle: Annotated[Path, tyro.conf.Positional],
    episodes: tuple[Path, ...],
    q_lo: float | None = None,
    q_hi: float | None = None,
    phases: tuple[str, ...] = (),
    source: str = "unguided replans of recorded episodes",
    look: bool = False,
) -> None:
    """The distribution of the Temporal Ratio over unguided replans, stored in a bundle.

    Args:
        bundle: folder with policy.toml.
        episodes: folders of episodes that were recorded with --guidance off, doing what the policy was trained for.
        q_lo: rank of TR below which adaptive guidance is off; default: as it is.
        q_hi: rank from which on it is whole; default: as it is.
        phases: PHASE=INSTRUCTION of sub-tasks, for quantiles of each.
        source: where the replans come from, for people.
        look: only show, store nothing.
    """
    from calibration import plots
    from calibration import tr as routine

    named = {text: name for name, _, text in (pair.partition("=") for pair in phases)}
    found = routine.collected(episodes, named)
    print("\n".join(routine.shown(found)))
    if found.guided:
        print(f"{found.guided} guided replans were left out")
    print("\n".join(routine.warnings(bundle, found.engine_id)))
    plots.plot_tr(PICTURES / "tr.png", found.by_phase, routine.ranks(bundle, q_lo, q_hi))
    if not look:
        print(routine.store(bundle, found, source, q_lo, q_hi))


@app.command
def check(
    rig: Rig = "twin",
    station: str = "twin",
    roles: tuple[Role, ...] = ROLES,
    board: Path | None = None,
    data: Path | None = None,
    views: int = 5,
) -> None:
    """Measure again, cheaply, and say what has drifted. Ends with 1 when something has.

    Args:
        rig: twin (simulated), station (real arms) or data (a folder of views).
        station: station by name, or its file.
        roles: which cameras.
        board: board file; default: the one that the twin shows.
        data: folder of views for --rig data.
        views: of each camera.
    """
    from calibration.drift import board_fault, drift_of
    from contract.errors import ConfigurationError
    from contract.station import load_station

    stored, used = load_station(station).calibration, _board(board)
    if stored is None:
        raise ConfigurationError("station", expected="a [calibration] section", got="none", remedy="calibrate first")
    faults = [fault for fault in [board_fault(stored, used)] if fault]
    for fault in faults:
        print(f"board: {fault}")
    found = _views(rig, station, board, roles, data, None, views)
    for role in roles:
        arm = "right" if role == "right_wrist" else "left"
        drift = drift_of(stored, used, role, [view for view in found if (view.role, view.arm) == (role, arm)])
        print(
            f"{role}: {drift.reprojection_px:.2f} px, board within {drift.scatter_mm:.2f} mm and "
            f"{drift.scatter_deg:.2f} degrees: {drift.what or 'as calibrated'}"
        )
        faults += [drift.what] if drift.what else []
    if faults:
        sys.exit(1)


def _board(file: Path | None) -> Any:
    from calibration.board import load_board
    from calibration.twin import BOARD

    return BOARD if file is None else load_board(file)


def _views(
    rig: Rig, station: str, board: Path | None, roles: Sequence[str], data: Path | None, keep: Path | None, views: int
) -> list[Any]:
    from calibration.collect import collect
    from calibration.session import opened
    from calibration.views import load_views
    from contract.errors import ConfigurationError

    if (rig == "data") != (data is not None):
        raise ConfigurationError("--data", expected="a folder with --rig data, and only then", got=data)
    if data is not None:
        return load_views(data, _board(board), roles)
    with opened(rig, station, _board(board)) as session:  # type: ignore[arg-type]
        found = []
        for role in roles:
            for arm in ("left", "right") if role == "top" else (role.removesuffix("_wrist"),):
                plan = session.prepare(session.plan(role, arm, views))
                found += collect(session.cell, session.board, plan, keep, print)
        return found


def _merged(before: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    from calibration.section import merged

    return merged(before, changes)


def _stored(station: Any, out: Path | None, source: str) -> None:
    print(f"{out or source}: stored; station {station.name}, sha256 {station.sha256()[:12]}; pictures in {PICTURES}")
