"""One measured run of the line: the demo's own processes, engaged again and again, watched from beside."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from contract.server_info import ServerInfo
from contract.station import load_station
from robot_client.clock import MonotonicClock
from robot_client.demo.deadline import Deadline
from robot_client.demo.listening import see_loop_end, wait_ready
from robot_client.demo.processes import Processes
from robot_client.latency.observed import Observed
from robot_client.latency.probe import Probe
from robot_client.latency.settings import LatencySettings
from robot_client.latency.starts import Starts
from robot_client.link.policy_link import PolicyLink
from robot_client.local_messages import LocalMessage, LoopStatus
from robot_client.process_config import RigConfig
from robot_client.rigs.choose import make_rig

_LOOK_S: Final = 0.001
_ALIVE_NS: Final = 200_000_000


class Session:
    """`conduct` starts everything, watches for the time given, and ends everything whatever happens."""

    def __init__(self, settings: LatencySettings, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._processes = Processes(settings.run_settings(), say)
        arms = load_station(settings.station).arms
        self._starts = Starts(settings.start_every_s, attended=arms is not None and arms.bus != "emulated")
        self._deadline = Deadline(lambda: float("inf"))
        self._status: LoopStatus | None = None
        self._probe: Probe | None = None
        self._alive_due_ns = 0
        self.observed = Observed()

    def conduct(self) -> Observed:
        """The run. Raises `StackError` when something does not start or dies."""
        try:
            self._processes.start()
            wait_ready(self._processes, self._take)
            self.observed.info = self._server_info()
            self._probe = self._open_probe()
            self._watch()
        finally:
            self._end()
        return self.observed

    def _open_probe(self) -> Probe | None:
        """None for the ideal rig, which lives inside the loop: there the loop's own readings are all there is."""
        settings = self._settings
        if settings.rig == "ideal":
            return None
        station = load_station(settings.station)
        run_dir = str(self._processes.run_dir)
        config = RigConfig(
            station=settings.station, rig=settings.rig, run_dir=self._processes.rig_dir, frames_dir=run_dir
        )
        probe = Probe(make_rig(config, station, MonotonicClock()), MonotonicClock())
        probe.open()
        return probe

    def _server_info(self) -> ServerInfo:
        """What the server really runs on; asked in a session of its own, before anything is measured."""
        roles = frozenset(camera.role for camera in load_station(self._settings.station).cameras)
        link = PolicyLink(self._processes.address, f"bench-{self._processes.run_dir.name[-8:]}", roles)
        try:
            return link.connect()
        finally:
            link.close()

    def _watch(self) -> None:
        until_s = time.monotonic() + self._settings.seconds
        while (now_s := time.monotonic()) < until_s:
            for message in self._processes.messages():
                self._take(message)
            if self._probe is not None:
                self._probe.look()
            self._lead(time.monotonic_ns())
            self._processes.require_running()
            time.sleep(max(0.0, now_s + _LOOK_S - time.monotonic()))

    def _lead(self, now_ns: int) -> None:
        if now_ns >= self._alive_due_ns:
            self._alive_due_ns = now_ns + _ALIVE_NS
            self._processes.tell("alive")
        act = self._starts.next_act(self._status, now_ns) if self._status is not None else None
        if act is not None:
            self._processes.tell(act)

    def _take(self, message: LocalMessage) -> None:
        self.observed.add(message)
        if isinstance(message, LoopStatus):
            self._status = message

    def _end(self) -> None:
        self._deadline.begin()
        self._processes.tell("finish")
        see_loop_end(self._processes, self._deadline, self._take)
        self._processes.end(self._deadline.left_s, take=self._take)
        self.observed.starts, self.observed.stops = self._starts.count, tuple(self._starts.stops)
        if self._probe is not None:
            self.observed.arrivals, self.observed.motion = self._probe.arrivals, self._probe.motion()
            self._probe.close()
