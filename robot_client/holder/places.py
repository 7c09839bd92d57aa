"""Where holders and their clients meet, so that a new client finds arms that are already held."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from contract.station import Station
from robot_client.mailbox import memory_directory

_BUSES: Final = "yam-buses"


def arms_directory(station: Station, run_dir: str = "") -> Path:
    """`run_dir` if given, else one folder per user and station on the memory file system; made if missing."""
    folder = Path(run_dir) if run_dir else memory_directory() / f"yam-arms-{os.getuid()}" / station.name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def bus_claim(channel: str, emulated: bool, folder: Path) -> Path:
    """The file that the one holder of a CAN bus holds: one per machine, or one per folder for an emulated bus."""
    path = (folder if emulated else memory_directory() / _BUSES) / f"{channel}.bus"
    bus_folder(path)
    return path


def bus_folder(path: Path) -> None:
    """The folder of a bus's file, made if missing; that of real buses is open to all users, like the buses."""
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.parent.name == _BUSES:
            path.parent.chmod(0o1777)


def client_claim(folder: Path, arm: str) -> Path:
    """The file that the one client of an arm holds."""
    return folder / f"{arm}.client"
