"""Where a camera process leaves its newest frames for planner and recorder: one mailbox for each role."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contract.station import Camera
from robot_client.mailbox import MailboxWriter, open_writer
from robot_client.rigs.base import Frame
from robot_client.twin.topics import camera_topic, frame_bytes, pack_frame, path_of


class FrameShelf:
    """`put` may be called by one thread for each role. Raises `RigError` when another process writes there."""

    def __init__(self, folder: Path, cameras: Sequence[Camera]) -> None:
        self._folder, self._cameras = folder, cameras
        self._writers: dict[str, MailboxWriter] = {}

    def open(self) -> None:
        """Make the folder and the mailboxes."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for camera in self._cameras:
            path = path_of(self._folder, camera_topic(camera.role))
            self._writers[camera.role] = open_writer(path, frame_bytes(camera.width, camera.height))

    def put(self, frame: Frame) -> None:
        """The newest frame of its role. Raises `RigError` when it is larger than the station file says."""
        self._writers[frame.role].put(pack_frame(frame.image), frame.stamp_ns)

    def close(self) -> None:
        """Give the mailboxes up; the last frames stay readable and age."""
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()
