"""What several commands of `yam-calibrate` are asked for: a board, views, and to say what was stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

Rig = Literal["twin", "station", "data"]
Role = Literal["top", "left_wrist", "right_wrist"]
ROLES: tuple[Role, ...] = ("top", "left_wrist", "right_wrist")
PICTURES = Path("out/calibration")


def board_of(file: Path | None) -> Any:
    from calibration.board import load_board
    from calibration.twin import BOARD

    return BOARD if file is None else load_board(file)


def views_of(
    rig: Rig, station: str, board: Path | None, roles: Sequence[str], data: Path | None, keep: Path | None, views: int
) -> list[Any]:
    from calibration.collect import collect
    from calibration.session import opened
    from calibration.views import load_views
    from contract.errors import ConfigurationError

    if (rig == "data") != (data is not None):
        raise ConfigurationError("--data", expected="a folder with --rig data, and only then", got=data)
    if data is not None:
        return load_views(data, board_of(board), roles)
    with opened(rig, station, board_of(board)) as session:  # type: ignore[arg-type]
        found = []
        for role in roles:
            for arm in ("left", "right") if role == "top" else (role.removesuffix("_wrist"),):
                plan = session.prepare(session.plan(role, arm, views))
                found += collect(session.cell, session.board, plan, keep, print)
        return found


def say_stored(station: Any, out: Path | None, source: str) -> None:
    print(f"{out or source}: stored; station {station.name}, sha256 {station.sha256()[:12]}; pictures in {PICTURES}")
