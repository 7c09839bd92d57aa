"""All processes of one run: twin, policy server, planner, loop; started in order, ended in order."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from contract.errors import RigError
from contract.station import load_station
from robot_client.cameras.start import Cameras
from robot_client.demo.children import Child, end_all, start_server
from robot_client.demo.choice import choice_of
from robot_client.demo.conversation import Conversation
from robot_client.demo.recording import END_S as RECORDER_S
from robot_client.demo.recording import Recording
from robot_client.demo.robot_side import RobotSide, RobotSideParts
from robot_client.demo.settings import RunSettings
from robot_client.holder.start import held_arms
from robot_client.inject.rehearsal import Rehearsal
from robot_client.local_messages import LocalMessage, PersonAct
from robot_client.run_folder import RunFolder, make_run_folder
from robot_client.teleop.side import LeaderSide
from robot_client.twin.handle import TwinArguments, TwinHandle, start_twin

START_S: Final = 60.0
"""Longest wait for one process to be ready: a cold disk loads libraries slowly."""
_LAST_S: Final = 0.1
_END_S: Final = 0.7
_TWIN_S: Final = 1.0
_PARK_S: Final = 2.0


class Processes:
    """The processes of a run and their channels. `say` prints a line for people. Nothing runs before `start`."""

    def __init__(self, settings: RunSettings, say: Callable[[str], None]) -> None:
        self._settings, self._say = settings, say
        self._folder: RunFolder | None = None
        self.logs = settings.out / "logs"
        self.twin: TwinHandle | None = None
        self.server: Child | None = None
        self.planner: Child | None = None
        self.loop: Child | None = None
        self.leader: LeaderSide | None = None
        self.leader_kind = settings.leader
        """Set before `start`: a keyboard leads only where somebody can type."""
        self.address = settings.server
        self._conversation = Conversation(say)
        self._recording: Recording | None = None
        self._station = load_station(settings.station)
        self._choice = choice_of(settings.cameras, self._station, settings.rig)
        self._cameras: Cameras | None = None
        self._rehearsal = Rehearsal(settings.inject, settings.seed, settings.rig, self._station, say)

    @property
    def run_dir(self) -> Path:
        """Folder of the run's mailboxes and sockets. Raises `RigError` before `start`."""
        if self._folder is None:
            raise RigError("run folder", expected="a run that was started", got="none")
        return self._folder.path

    @property
    def plans(self) -> bool:
        """Whether there is to be a policy."""
        return self._settings.policy

    @property
    def rig_dir(self) -> str:
        """Where the rig's mailboxes are; empty: where the holders of real arms, which outlive runs, have them."""
        return "" if self._settings.rig == "yam" else str(self.run_dir)

    def start(self) -> None:
        """Start everything; returns when twin and server are ready. Raises `RigError` saying what is not."""
        try:
            self._start_all()
        except OSError as error:  # a full disk: logs, configurations and mailboxes are files
            raise RigError("starting the run", got=str(error), remedy="check disk and folder") from error

    def _start_all(self) -> None:
        self._folder = make_run_folder("run")
        self.logs.mkdir(parents=True, exist_ok=True)
        if self._settings.bundle is not None:
            self._say(f"starting the policy server with {self._settings.bundle}")
            self.server = start_server(self._settings.bundle, self.logs)
        if self._settings.rig == "sim":
            self._say("starting the twin")
            self.twin = start_twin(self.run_dir, self._twin_arguments())
            self.twin.wait_ready(START_S)
        elif self._settings.rig == "yam":
            for line in held_arms(self._station):
                self._say(line)
            if self._settings.policy or self._settings.record is not None:  # else nobody looks through them
                self._cameras = Cameras(self._station, self._choice.devices, self.run_dir, self.logs)
                for line in self._cameras.start():
                    self._say(line)
        for role in self._choice.unused(self._station):
            self._say(f"camera {role} of the station is not used: the map leaves it out")
        if self.server is not None:
            self.address = self.server.wait_for_line("READY ", START_S).split()[1]
        if self._settings.record is not None:
            self._recording = Recording(self._settings, self._settings.record, self.run_dir)
            self._say(f"recording to {self._recording.start(self.logs)}")
        if self.leader_kind is not None:
            self.leader = LeaderSide(self.leader_kind, self._settings.station, self.run_dir)
            self.leader.start(self.logs)
        policy = f"policy server at {self.address}; starting planner and loop"
        self._say(policy if self._settings.policy else "no policy; starting the loop")
        self._start_robot()

    def messages(self) -> Iterator[LocalMessage]:
        """What loop and planner have sent since the last call."""
        return self._conversation.messages()

    def tell(self, act: PersonAct, text: str = "") -> None:
        """Passes a person's act on to the loop."""
        self._conversation.tell(act, text)
        if act == "engage":
            self._rehearsal.engaged()

    def misbehave(self) -> None:
        """Do to whole processes what was asked for this moment; call it often."""
        self._rehearsal.step({"server": self.server, "planner": self.planner})

    def require_running(self) -> None:
        """Raises `RigError` naming the process that has died, with its last words."""
        for name, child in (("server", self.server), ("planner", self.planner), ("loop", self.loop)):
            if child is not None and not self._rehearsal.killed(name):
                child.require_running()
        if self.leader is not None:
            self.leader.require_running()
        if self.twin is not None and not self.twin.alive():
            raise RigError("the twin ended", remedy=f"see {self.logs}/twin.log")

    def end(self, left_s: Callable[[float], float], take: Callable[[LocalMessage], None]) -> bool:
        """Ends everything, all at the same time; whether the loop, which holds the arms, had ended by itself.

        `left_s(at_most_s)` is the time there is for a step. `take` sees the last messages.
        """
        self._rehearsal.end()
        cameras = [] if self._cameras is None else list(self._cameras.children.values())
        children = [child for child in (self.loop, self.planner, self.server, *cameras) if child is not None]
        ended = self.loop is None or self.loop.wait(left_s(_LAST_S))
        for child in children:
            child.ask_to_end()  # while we wait for the twin: on a busy machine each takes most of a second
        self._end_twin(park=not ended, timeout_s=left_s(_TWIN_S if ended else _PARK_S))
        for child in end_all(children, left_s(_END_S)):
            self._say(f"{child.name} (process {child.process.pid}) was killed and is not gone yet")
        if self.leader is not None:
            self.leader.close(left_s(_END_S))
        if self._recording is not None and not self._recording.end(left_s(RECORDER_S)):
            self._say("the recorder is still writing; it closes the episode by itself")
        for message in self.messages():
            take(message)
        self._conversation.close()
        if self._folder is not None:
            self._folder.remove()
            self._folder = None
        return ended

    def _end_twin(self, park: bool, timeout_s: float) -> None:
        if self.twin is None:
            return
        self.twin.close(park=park, timeout_s=timeout_s)
        with suppress(OSError):  # no log of the twin, or no room for it
            shutil.copy(self.run_dir / "twin.log", self.logs / "twin.log")

    def _twin_arguments(self) -> TwinArguments:
        sizes = {camera.role: (camera.width, camera.height) for camera in self._station.cameras}
        return TwinArguments(seed=self._settings.seed, instruction=self._settings.instruction, sizes=sizes)

    @property
    def recorder_address(self) -> str:
        """Where the recorder takes messages; empty when nothing is recorded."""
        return self._recording.address if self._recording else ""

    def _start_robot(self) -> None:
        settings = self._settings
        common: dict[str, Any] = {"station": settings.station, "rig": settings.rig, "run_dir": self.rig_dir}
        if self._cameras is not None:
            common["frames_dir"] = str(self.run_dir)
        parts = RobotSideParts(
            settings=settings,
            run_dir=self.run_dir,
            logs=self.logs,
            address=self.address,
            common=common | self._rehearsal.config(self.run_dir),
            leader=self.leader.config if self.leader is not None else {},
            roles=self._choice.roles,
            recording=self._recording,
        )
        side = RobotSide()
        try:
            parts.start(side)
        finally:
            self.loop, self.planner, self._conversation.channels = side.loop, side.planner, side.channels

    def last_words(self) -> str:
        """The last line of planner and loop, for people."""
        words = [child.tail().splitlines()[-1:] for child in (self.planner, self.loop) if child is not None]
        return "; ".join(line for lines in words for line in lines) or "silence"
