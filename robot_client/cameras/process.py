"""One camera's process: frames from its device into a mailbox; a lost device is opened anew, but not for ever."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from contract.errors import RigError
from robot_client.cameras.config import CameraConfig
from robot_client.cameras.frozen import Frozen
from robot_client.cameras.source import MADE_UP, CameraSource, Captured
from robot_client.cameras.stamps import StampMap
from robot_client.cameras.status import STATUS_BYTES, CameraStatus, pack_status, status_path
from robot_client.clock import NS_PER_S
from robot_client.mailbox import open_writer
from robot_client.twin.topics import camera_topic, frame_bytes, pack_frame, path_of

MOST_TRIES: Final = 30
"""Openings in a row that give no frame; then the camera is given up."""
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 1.0
_STATUS_NS: Final = NS_PER_S


class CameraProcess:
    """`run` returns when `over()` says so, or raises `RigError` when the camera is given up. `say` prints a line."""

    def __init__(
        self,
        config: CameraConfig,
        source: CameraSource,
        over: Callable[[], bool],
        say: Callable[[str], None],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._config, self._source, self._over, self._say, self._pause = config, source, over, say, pause
        self._stamps = StampMap(config.latency_ns)
        made_up = config.device.partition(":")[0] in MADE_UP
        self._frozen = None if made_up else Frozen()
        self._stands_still = False
        self._arrivals: deque[int] = deque()
        self._frames = self._reconnects = self._tries = 0
        self._how = self._trouble = ""
        self._status_ns = 0

    def run(self) -> None:
        """Open the mailboxes and pass frames on."""
        folder = Path(self._config.frames_dir)
        topic = path_of(folder, camera_topic(self._config.role))
        self._mail = open_writer(topic, frame_bytes(self._config.width, self._config.height))
        self._statuses = open_writer(status_path(folder, self._config.role), STATUS_BYTES)
        try:
            while not self._over():
                self._connection()
        finally:
            self._mail.close()
            self._statuses.close()

    def _connection(self) -> None:
        """From opening to the loss of the device."""
        self._tell("opening")
        try:
            self._source.open()
            while not self._over():
                self._pass_on(self._source.read())
        except RigError as error:
            self._lost(error)
        finally:
            self._source.close()

    def _pass_on(self, captured: Captured) -> None:
        stamp_ns, how = self._stamps.stamp(captured)
        if self._tries:
            self._say(f"camera {self._config.role} delivers again")
        if how != self._how:
            self._say(f"camera {self._config.role} ({self._source.serial or 'no serial number'}): stamps: {how}")
        self._tries, self._how = 0, how
        self._frames += 1
        self._arrivals.append(captured.arrival_ns)
        while captured.arrival_ns - self._arrivals[0] > NS_PER_S:
            self._arrivals.popleft()
        stands_still = self._look_for_life(captured)
        if captured.arrival_ns - self._status_ns >= _STATUS_NS:
            self._status_ns = captured.arrival_ns
            self._tell("frozen" if stands_still else "delivering")
        if not stands_still:
            self._mail.put(pack_frame(captured.image), stamp_ns)

    def _look_for_life(self, captured: Captured) -> bool:
        """Pictures that stand still are not passed on: what is in the mailbox grows old, and that is watched."""
        if self._frozen is None:
            return False
        before, self._stands_still = self._stands_still, self._frozen.look(captured)
        if self._stands_still and not before:
            self._trouble = f"camera {self._config.role} sends the same picture again and again: plug it in anew"
            self._say(self._trouble)
            self._tell("frozen")
        elif before and not self._stands_still:
            self._say(f"camera {self._config.role} sees again")
        return self._stands_still

    def _lost(self, error: RigError) -> None:
        """Wait a little longer each time; give up in the end, saying so."""
        if str(error) != self._trouble:
            self._say(str(error))
        self._trouble = str(error)
        self._tries += 1
        self._reconnects += 1
        if self._tries >= MOST_TRIES:
            self._tell("given up")
            raise RigError(
                f"camera {self._config.role} is given up after {self._tries} tries", got=self._trouble,
                remedy="mend it and start the run again",
            )  # fmt: skip
        self._tell("lost")
        self._pause(min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (self._tries - 1)))

    def _tell(self, state: str) -> None:
        status = CameraStatus(
            role=self._config.role,
            device=self._config.device,
            serial=self._source.serial,
            state=state,
            frames=self._frames,
            rate_hz=float(len(self._arrivals)),
            how=self._how,
            jumps=self._stamps.counts["jumps"],
            reconnects=self._reconnects,
            trouble=self._trouble,
        )
        self._statuses.put(pack_status(status), time.monotonic_ns())
