"""Image topics -> camera mailboxes. A bad image is dropped, counted and named; the last good one ages."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from contract.errors import StackError
from contract.station import Camera
from robot_client.cameras.shelf import FrameShelf
from robot_client.clock import NS_PER_MS, NS_PER_S
from robot_client.episodes.ros_time import RosTime
from robot_client.rigs.base import Frame
from yam_vam.images import rgb_of
from yam_vam.qos_watch import QosWatch
from yam_vam.stamps import Stamps
from yam_vam.topics import role_topic


class ImageTopics:
    """`topics`: role -> topic name, for cameras of the station that come by topic."""

    def __init__(
        self, watch: QosWatch, say: Any, cameras: Sequence[Camera], frames_dir: Path, time_map: RosTime
    ) -> None:
        self._watch, self._say = watch, say
        self._cameras = {camera.role: camera for camera in cameras}
        self._shelf = FrameShelf(frames_dir, cameras)
        self._stamps = {c.role: Stamps(time_map, int(c.latency_ms * NS_PER_MS)) for c in cameras}
        self.filling = True
        self.taken: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def open(self, topics: dict[str, str]) -> None:
        """Make the mailboxes, subscribe. Raises `RigError` when another process fills them."""
        self._shelf.open()
        for role, name in topics.items():
            table = role_topic("/{role}/image_raw", role)
            self._watch.subscribe(name or table.name, table.kind, table.qos, partial(self.came, role), alone=True)

    @property
    def flagged(self) -> int:
        """Images whose own stamp could not be used."""
        return sum(stamps.flagged for stamps in self._stamps.values())

    def close(self) -> None:
        """The last frames stay readable and age."""
        self.filling = False
        self._shelf.close()

    def kept(self, frame: Frame) -> None:
        """A frame lies in its mailbox; for a bench that wants to know when."""

    def came(self, role: str, message: Any) -> None:
        """An image arrived."""
        arrival_ns = time.monotonic_ns()
        if not self.filling:
            return
        try:
            image = rgb_of(message)
            ros_ns = message.header.stamp.sec * NS_PER_S + message.header.stamp.nanosec
            frame = Frame(role, image, self._stamps[role].monotonic(ros_ns, arrival_ns))
            self._shelf.put(frame)
            self.taken[role] += 1
            self.kept(frame)
        except StackError as error:
            self.refused[role] += 1
            self._say(f"{role}: {error}", throttle_duration_sec=2.0)
