"""Parks real arms because a person said so: the control loop, with all its limits, on the way to the park pose."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final

from contract.errors import RigError
from contract.station import load_station
from robot_client import local_codec
from robot_client.channel import Channel, channel_pair
from robot_client.demo.interrupt import STOPS
from robot_client.holder.account import last_account
from robot_client.holder.start import held_arms
from robot_client.local_messages import LoopStatus, PersonAct, PersonEvent
from robot_client.process_config import LoopConfig, write_config
from robot_client.run_folder import make_run_folder

READY_S: Final = 15.0
LONGEST_S: Final = 60.0
"""The slowest way to the park pose."""
_END_S: Final = 8.0
_POLL_S: Final = 0.02
_SILENT_S: Final = 0.3
"""A holder's word is old after 0.1 s; only then is looked whether it lives."""
_OVER: Final = ("HOLD", "FAULT", "FALLING")


class Parking:
    """One parking. A signal during it stops the arms and holds them."""

    def __init__(self, station: str, run_dir: str, realtime: bool, say: Callable[[str], None]) -> None:
        self._config = LoopConfig(station=station, rig="yam", run_dir=run_dir, realtime=realtime)
        self._say = say
        self._status: LoopStatus | None = None
        self._stopped = False

    def run(self) -> bool:
        """Whether both arms arrived. Trouble is said; the last that is said is the state of each arm."""
        station = load_station(self._config.station)
        for number in STOPS:
            signal.signal(number, self._stop)
        try:
            return self._park()
        except (RigError, OSError) as error:  # shared memory may be full
            self._say(f"yam-robot: {error}")
            return False
        finally:
            for line in last_account(station, self._config.run_dir)[0]:
                self._say(line)

    def _park(self) -> bool:
        for line in held_arms(load_station(self._config.station), self._config.run_dir):
            self._say(line)
        supervisor, theirs = channel_pair()
        planner, theirs_too = channel_pair()
        with make_run_folder("park") as folder:
            process = self._start(folder, theirs, theirs_too)
            try:
                return self._conduct(supervisor, process)
            finally:
                self._finish(supervisor, process)
                planner.close()

    def _conduct(self, supervisor: Channel, process: subprocess.Popen[bytes]) -> bool:
        self._wait(supervisor, process, ("IDLE", *_OVER), READY_S)
        if self._stopped:  # what a person stopped before it began must not begin
            self._say("arms: stopped before the parking began")
            return False
        _tell(supervisor, "park")
        if self._wait(supervisor, process, ("PARK", "FAULT", "FALLING"), READY_S) == "PARK":
            self._say("parking; Ctrl-C stops and holds")
        mode = self._wait(supervisor, process, _OVER, LONGEST_S)
        reason = self._status.reason if self._status else ""
        if mode == "HOLD" and not reason.endswith("reached"):
            mode, reason = self._looked_again(supervisor, process)
        self._say(f"arms: {mode}: {reason}")
        return mode == "HOLD" and not self._stopped and reason.endswith("reached")

    def _looked_again(self, supervisor: Channel, process: subprocess.Popen[bytes]) -> tuple[str, str]:
        """Mode and reason once it is known whether a holder that fell silent is gone: then its arm is not held."""
        end = time.monotonic() + _SILENT_S
        while time.monotonic() < end and process.poll() is None:
            self._hear(supervisor)
            _tell(supervisor, "alive")
            time.sleep(_POLL_S)
        return (self._status.mode, self._status.reason) if self._status else ("nothing", "")

    def _hear(self, supervisor: Channel, modes: tuple[str, ...] = ()) -> str:
        """Takes in what the loop has said, up to the first of these modes, which is returned; empty without one."""
        while (message := local_codec.receive(supervisor)) is not None:
            if isinstance(message, LoopStatus):
                self._status = message
                if message.mode in modes:
                    return message.mode
        return ""

    def _wait(
        self, supervisor: Channel, process: subprocess.Popen[bytes], modes: tuple[str, ...], seconds: float
    ) -> str:
        end = time.monotonic() + seconds
        while time.monotonic() < end and process.poll() is None:
            if mode := self._hear(supervisor, modes):
                return mode
            _tell(supervisor, "hold" if self._stopped else "alive")
            if self._stopped:
                modes = _OVER
            time.sleep(_POLL_S)
        mode = self._status.mode if self._status else "nothing"
        raise RigError("parking", expected=f"{' or '.join(modes)} within {seconds:g} s", got=mode, remedy="see above")

    def _start(self, folder: Path, supervisor: Channel, planner: Channel) -> subprocess.Popen[bytes]:
        path = folder / "loop.json"
        write_config(path, self._config)
        fds = supervisor.fileno(), planner.fileno()
        arguments = ["--config", str(path), "--supervisor-fd", str(fds[0]), "--planner-fd", str(fds[1])]
        command = [sys.executable, "-m", "robot_client.loop_process", *arguments]
        process = subprocess.Popen(command, pass_fds=fds, stdin=subprocess.DEVNULL, start_new_session=True)
        supervisor.close()
        planner.close()
        return process

    def _finish(self, supervisor: Channel, process: subprocess.Popen[bytes]) -> None:
        _tell(supervisor, "finish")
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_END_S)
        supervisor.close()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopped = True


def _tell(supervisor: Channel, act: PersonAct) -> None:
    local_codec.send(supervisor, PersonEvent(act))
