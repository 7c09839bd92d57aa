"""Starts the camera processes of a run and looks after them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from contract.errors import ConfigurationError, RigError
from contract.station import Camera, Station
from robot_client.cameras.config import config_of
from robot_client.cameras.source import KINDS
from robot_client.cameras.status import CameraStatus, status_path, unpack_status
from robot_client.demo.children import Child, start_child
from robot_client.mailbox import MailboxReader
from robot_client.rigs.mailbox_frames import MailboxFrames

START_S: Final = 20.0
"""Libraries and a device that wakes up."""
_POLL_S: Final = 0.02


def devices(station: Station, chosen: Mapping[str, str]) -> dict[str, str]:
    """Role of the station -> device: the station's, another that a person chose, or a made-up picture.

    Emulated arms come with made-up pictures unless something was chosen: a dry run needs no cameras. Raises
    `ConfigurationError` for a role that the station does not have.
    """
    roles = [camera.role for camera in station.cameras]
    unknown = sorted(set(chosen) - set(roles))
    if unknown:
        raise ConfigurationError("--cameras", expected=f"roles of the station: {', '.join(roles)}", got=unknown)
    emulated = station.arms is not None and station.arms.bus == "emulated"
    return {camera.role: chosen.get(camera.role) or _own_device(camera, emulated) for camera in station.cameras}


def _own_device(camera: Camera, emulated: bool) -> str:
    kind = camera.device.partition(":")[0]
    return f"pattern:{camera.role}" if emulated and kind not in ("pattern", "file") else camera.device


class Cameras:
    """The camera processes of one run. Nothing runs before `start`."""

    def __init__(self, station: Station, chosen: Mapping[str, str], frames_dir: Path, logs: Path) -> None:
        self._cameras: Sequence[Camera] = station.cameras
        self._devices = devices(station, chosen)
        self._frames_dir, self._logs = frames_dir, logs
        self.children: dict[str, Child] = {}

    def start(self) -> Iterator[str]:
        """Start all; a line for each once it has delivered. Raises `RigError` naming one that does not."""
        for camera in self._cameras:
            device = self._devices[camera.role]
            if device.partition(":")[0] not in KINDS:
                raise ConfigurationError(
                    f"camera {camera.role}", expected=f"a device of kind {', '.join(KINDS)}", got=device
                )
            path = self._frames_dir / f"camera_{camera.role}.json"
            path.write_text(config_of(camera, device, self._frames_dir).model_dump_json(), encoding="utf-8")
            self.children[camera.role] = start_child(
                f"camera_{camera.role}", ["robot_client.cameras", "--config", str(path)], self._logs, eof=True
            )
        frames = MailboxFrames(self._frames_dir, [camera.role for camera in self._cameras])
        until_s = time.monotonic() + START_S
        for camera in self._cameras:
            yield self._first(camera, frames, until_s)
        frames.close()

    def _first(self, camera: Camera, frames: MailboxFrames, until_s: float) -> str:
        child = self.children[camera.role]
        while camera.role not in frames.frames():
            child.require_running()
            if time.monotonic() > until_s:
                raise RigError(
                    f"camera {camera.role}", expected=f"an image within {START_S:g} s", got=child.tail() or "none"
                )
            time.sleep(_POLL_S)
        frame = frames.frames()[camera.role]
        age_ms = (time.monotonic_ns() - frame.stamp_ns) / 1e6
        status = self.status(camera.role)
        named = f", serial {status.serial}" if status and status.serial else ""
        return (
            f"camera {camera.role} <- {self._devices[camera.role]}{named}, "
            f"{frame.image.shape[1]}x{frame.image.shape[0]}, {age_ms:.0f} ms old"
        )

    def status(self, role: str) -> CameraStatus | None:
        """The newest; None before the first."""
        reader = MailboxReader(status_path(self._frames_dir, role))
        letter = reader.newest()
        reader.close()
        return None if letter is None else unpack_status(letter)
