"""Asks the server now and then what it imagines, for people to look at. Runs beside the robot's own session."""

from __future__ import annotations

import threading
import time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import StackError
from contract.layout import SIZE
from contract.server_info import ServerInfo
from contract.station import Station
from contract.types import ImaginedFrames, ImagineRequest, Observation
from robot_client.camera_roles import bind_cameras
from robot_client.clock import NS_PER_S, MonotonicClock
from robot_client.episodes.feed import FeedSender
from robot_client.link.policy_link import PolicyLink
from robot_client.local_messages import Imagined
from robot_client.planner.observe import look
from robot_client.rectify import Rectifier, rectifiers_of
from robot_client.rigs.base import Rig

_POLL_S: Final = 0.05
_MAX_IMAGE_AGE_NS: Final = NS_PER_S


class Watcher:
    """A thread with a session of its own. Trouble here never touches the robot: it is kept in `trouble`."""

    def __init__(
        self,
        link: PolicyLink,
        rig: Rig,
        station: Station,
        session: str,
        instruction: str,
        every_s: float,
        recorder: FeedSender | None = None,
    ) -> None:
        self._link, self._rig, self._station = link, rig, station
        self._session, self._instruction, self._every_s = session, instruction, every_s
        self._recorder = recorder
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._rectifiers: dict[str, Rectifier] | None = None
        self._frames: ImaginedFrames | None = None
        self._since_s = 0.0
        self.info: ServerInfo | None = None
        self.trouble = ""
        self.answered = 0

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more; returns at once."""
        self._over.set()

    def wait(self, timeout_s: float) -> None:
        """Wait for the last answer and the goodbye."""
        self._thread.join(timeout_s)

    def frame(self) -> NDArray | None:
        """The imagined frame (H, W, 3) for this moment: the newest prediction played in a loop."""
        frames = self._frames
        if frames is None:
            return None
        shown = int((time.monotonic() - self._since_s) * NS_PER_S / frames.frame_step_ns)
        return frames.frames[shown % len(frames.frames)]

    def _run(self) -> None:
        try:
            self.info = self._link.connect()
            if self._recorder is not None:
                self._recorder.open()
            self._rig.open()
            sequence = 0
            while not self._over.is_set():
                self._ask(sequence)
                sequence += 1
                self._pause()
        except StackError as error:
            if not self._over.is_set():
                self.trouble = str(error)
        finally:
            self._link.close()
            if self._recorder is not None:
                self._recorder.close()

    def _ask(self, sequence: int) -> None:
        try:
            observation = self._observation(sequence)
            request_id = self._link.imagine(ImagineRequest(observation, chunks=1))
            answer = self._link.wait_for(request_id)
        except StackError as error:
            if not self._over.is_set():  # nobody waits for an answer any more once the run is over
                self.trouble = str(error)
            return
        if isinstance(answer, ImaginedFrames):
            self._frames, self._since_s = answer, time.monotonic()
            self.answered += 1
            if self._recorder is not None:
                self._recorder.send(Imagined(observation.stamp_ns, answer.frame_step_ns, answer.frames))

    def _observation(self, sequence: int) -> Observation:
        info, clock = self._link.info, MonotonicClock()
        cameras = bind_cameras(self._station.cameras, {}, info)
        if self._rectifiers is None:
            self._rectifiers = rectifiers_of(cameras, self._station, info)
        sighting = look(self._rig.frames(), cameras, info, clock, _MAX_IMAGE_AGE_NS, self._rectifiers)
        reading = self._rig.joints()
        return Observation(
            session=self._session,
            epoch=0,
            sequence=sequence,
            stamp_ns=clock.now_ns(),
            joints=reading.positions.astype(np.float32),
            joints_stamp_ns=reading.stamp_ns,
            images=sighting.images,
            image_stamps_ns=sighting.stamps_ns,
            instruction=self._instruction,
            seed=sequence,
            first_row=0,
            prefix=np.zeros((0, SIZE), np.float32),
            budget_ns=0,
        )

    def _pause(self) -> None:
        until_s = time.monotonic() + self._every_s
        while not self._over.is_set() and time.monotonic() < until_s:
            self._link.poll(_POLL_S)
