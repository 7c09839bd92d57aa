"""Where holders and their clients meet, so that a new client finds arms that are already held."""

from __future__ import annotations

import os
from pathlib import Path

from contract.station import Station
from robot_client.mailbox import memory_directory


def arms_directory(station: Station, run_dir: str = "") -> Path:
    """`run_dir` if given, else one folder per user and station on the memory file system; made if missing."""
    folder = Path(run_dir) if run_dir else memory_directory() / f"yam-arms-{os.getuid()}" / station.name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def bus_claim(channel: str, emulated: bool, folder: Path) -> Path:
    """The file that the one holder of a CAN bus holds: one per machine, or one per folder for an emulated bus."""
    if emulated:
        return folder / f"{channel}.bus"
    shared = memory_directory() / "yam-buses"
    if not shared.is_dir():
        shared.mkdir(exist_ok=True)
        shared.chmod(0o1777)
    return shared / f"{channel}.bus"


def client_claim(folder: Path, arm: str) -> Path:
    """The file that the one client of an arm holds."""
    return folder / f"{arm}.client"
