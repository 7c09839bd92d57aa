"""What several commands of `yam-calibrate` are asked for, each option written once; what they all say at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import tyro

RigKind = Literal["twin", "station"]
Rig = Literal["twin", "station", "data"]
Role = Literal["top", "left_wrist", "right_wrist"]
ROLES: tuple[Role, ...] = ("top", "left_wrist", "right_wrist")
PICTURES: Final = Path("out/calibration")

Out = Annotated[Path | None, tyro.conf.arg(help="station file to write; default: the station's own.")]
Flat = tyro.conf.OmitArgPrefixes
"""Marks a group of options that appear without the group's name."""


@dataclass(frozen=True)
class Cell:
    """Where arms move."""

    rig: RigKind = "twin"
    """twin (simulated) or station (real arms; says what a person must do)."""
    station: str = "twin"
    """Station by name, or its file."""
    board: Path | None = None
    """Board file (docs/calibration.md); needed with real arms. Default: the one that the twin shows."""


@dataclass(frozen=True)
class Looks:
    """Where views come from."""

    rig: Rig = "twin"
    """twin (simulated), station (real arms; says what a person must do) or data (a folder of views)."""
    station: str = "twin"
    """Station by name, or its file."""
    roles: tuple[Role, ...] = ROLES
    """Which cameras."""
    board: Path | None = None
    """Board file (docs/calibration.md); needed with real arms. Default: the one that the twin shows."""
    data: Path | None = None
    """Folder of views for --rig data."""
    keep: Path | None = None
    """Folder to store the views in."""


def board_of(file: Path | None) -> Any:
    from calibration.board import load_board
    from calibration.twin import BOARD

    return BOARD if file is None else load_board(file)


def views_of(looks: Looks, views: int) -> list[Any]:
    """Of each camera and arm, checked for what can be checked before anything moves."""
    from calibration.views import load_views
    from contract.errors import ConfigurationError
    from contract.station import load_station

    if (looks.rig == "data") != (looks.data is not None):
        raise ConfigurationError("--data", expected="a folder with --rig data, and only then", got=looks.data)
    if not looks.roles:
        raise ConfigurationError("--roles", expected="a camera or more", got="none", remedy=f"of {', '.join(ROLES)}")
    unknown = set(looks.roles) - {camera.role for camera in load_station(looks.station).cameras}
    if unknown:
        raise ConfigurationError("--roles", expected=f"cameras of {looks.station}", got=sorted(unknown))
    if looks.data is not None:
        return load_views(looks.data, board_of(looks.board), looks.roles)
    return _collected(looks, views)


def _collected(looks: Looks, views: int) -> list[Any]:
    from calibration.session import opened, require_board

    require_board(looks.rig, looks.board)
    with opened(looks.rig, looks.station, board_of(looks.board)) as session:  # type: ignore[arg-type]
        return collected(session, looks.roles, views, looks.keep)


def collected(session: Any, roles: Sequence[str], views: int, keep: Path | None = None) -> list[Any]:
    """Views of each camera: wrist cameras by their own arm, others by both."""
    from calibration.collect import collect

    found = []
    for role in roles:
        for arm in ("left", "right") if role == "top" else (role.removesuffix("_wrist"),):
            plan = session.prepare(session.plan(role, arm, views))
            found += collect(session.cell, session.board, plan, keep, print)
    return found


def lenses_of(station: Any) -> dict[str, Any]:
    """Role -> camera of the station's calibrated lenses."""
    from calibration.measure import lens_of

    stored = station.calibration
    return {} if stored is None else {role: lens_of(lens) for role, lens in stored.intrinsics.items()}


def say_stored(station: Any, out: Path | None, source: str) -> None:
    print(f"{out or source}: stored; station {station.name}, sha256 {station.sha256()[:12]}; pictures in {PICTURES}")
