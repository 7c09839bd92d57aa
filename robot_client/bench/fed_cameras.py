"""Three 640x480 cameras at 30 Hz, written where the twin's would be."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from robot_client.clock import NS_PER_S
from robot_client.mailbox import MailboxWriter, open_writer
from robot_client.payload.jpeg import scene
from robot_client.twin.topics import camera_topic, frame_bytes, pack_frame, path_of

HEIGHT: Final = 480
WIDTH: Final = 640
CAMERA_HZ: Final = 30
_SCENES: Final = 6


class FedCameras:
    """`open`, `tend` often, `close`."""

    def __init__(self, run_dir: Path, roles: Sequence[str]) -> None:
        self._paths = [path_of(run_dir, camera_topic(role)) for role in roles]
        self._writers: list[MailboxWriter] = []
        self._packed: list[bytes] = []
        self._frames = 0
        self._due_ns = 0

    def open(self) -> None:
        """The mailboxes, and pictures made beforehand."""
        self._packed = [pack_frame(scene(HEIGHT, WIDTH, seed)) for seed in range(_SCENES)]
        self._writers = [open_writer(path, frame_bytes(WIDTH, HEIGHT)) for path in self._paths]

    def tend(self) -> int:
        """Write what is due; when the next is."""
        now_ns = time.monotonic_ns()
        self._due_ns = self._due_ns or now_ns
        if now_ns >= self._due_ns:
            self._due_ns += NS_PER_S // CAMERA_HZ
            for offset, writer in enumerate(self._writers):
                writer.put(self._packed[(self._frames + offset) % _SCENES], now_ns)
            self._frames += 1
        return self._due_ns

    def pause(self) -> None:
        """The next frame is due when `tend` is called again, not all that were due meanwhile."""
        self._due_ns = 0

    def close(self) -> None:
        """Let go of the mailboxes."""
        for writer in self._writers:
            writer.close()
        self._writers = []
