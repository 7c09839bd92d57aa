"""A recorded episode on a rig: starts the loop (and the twin), hands the arms to the episode, watches, compares."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.errors import CodecError, RigError
from robot_client import local_codec
from robot_client.channel import Channel, channel_pair
from robot_client.demo.children import Child, start_child
from robot_client.demo.deadline import Deadline
from robot_client.demo.interrupt import Interrupt
from robot_client.episodes.course import course_of
from robot_client.episodes.outcome import Outcome
from robot_client.local_messages import LocalMessage, LoopStatus, PersonAct, PersonEvent, TickBatch
from robot_client.process_config import LoopConfig, RigKind, write_config
from robot_client.run_folder import make_run_folder
from robot_client.twin.handle import TwinArguments, TwinHandle, start_twin

_READY_S: Final = 30.0
_PROCESSES_S: Final = 2.3
"""Kept of the whole end for ending the processes; before that the loop brakes, holds and parks."""
_LOOP_S: Final = 1.0
_POLL_S: Final = 0.02
_STOPPED: Final = ("HOLD", "FAULT", "FALLING")


@dataclass(frozen=True, slots=True)
class RigReplaySettings:
    """One replay."""

    path: Path
    rig: RigKind
    station: str
    speed: float
    seed: int
    logs: Path


class RigReplay:
    """`conduct` does it all; the loop is ended whatever happens. Raises `StackError` when something does not start."""

    def __init__(self, settings: RigReplaySettings, interrupt: Interrupt, say: Callable[[str], None]) -> None:
        self._settings, self._interrupt, self._say = settings, interrupt, say
        self._twin: TwinHandle | None = None
        self._loop: Child | None = None
        self._channel: Channel | None = None
        """To the loop, once it was started."""
        self._deadline = Deadline(lambda: interrupt.asked_s)

    def conduct(self) -> Outcome:
        """The replay."""
        outcome = Outcome(course_of(self._settings.path), self._settings.speed)
        self._say(f"{len(outcome.course.times_ns)} targets, {outcome.expected_s:.1f} s at {outcome.speed:g}x")
        planner, planner_side = channel_pair()  # nobody plans; the loop only sees that the channel is open
        with make_run_folder("replay") as folder:
            try:
                self._start(folder, planner_side)
                self._wait_for_torque(outcome)
                if not self._interrupt.asked:  # what a person stopped before it began must not begin
                    self._tell("replay")
                self._watch(outcome)
            finally:
                self._end(outcome)
                planner.close()
        return outcome

    def _start(self, run_dir: Path, planner: Channel) -> None:
        settings = self._settings
        settings.logs.mkdir(parents=True, exist_ok=True)
        if settings.rig == "sim":
            self._twin = start_twin(run_dir, TwinArguments(seed=settings.seed))
            self._twin.wait_ready(_READY_S)
        self._channel, loop_side = channel_pair()
        config = LoopConfig(
            station=settings.station,
            rig=settings.rig,
            run_dir=str(run_dir) if settings.rig == "sim" else "",
            episode=str(settings.path.absolute()),
            episode_speed=settings.speed,
        )
        write_config(run_dir / "loop.json", config)
        fds = (loop_side.fileno(), planner.fileno())
        args = ["--config", str(run_dir / "loop.json"), "--supervisor-fd", str(fds[0]), "--planner-fd"]
        self._loop = start_child("loop", ["robot_client.loop_process", *args, str(fds[1])], settings.logs, fds)
        loop_side.close()
        planner.close()

    def _watch(self, outcome: Outcome) -> None:
        """Until the episode is over, somebody interrupts, or the loop stops."""
        moved = False
        while not self._interrupt.asked:
            self._collect(outcome)
            mode = outcome.last.mode if outcome.last else ""
            moved = moved or mode in ("HANDOFF", "REPLAY")
            if moved and mode in _STOPPED and outcome.last is not None:
                over = outcome.last.reason == "the episode is over"
                outcome.stopped = "" if over else f"{mode}: {outcome.last.reason}"
                return
            if not moved and outcome.last is not None and outcome.last.notes.get("notice"):
                outcome.stopped = outcome.last.notes["notice"]
                return
            time.sleep(_POLL_S)
        outcome.stopped = "stopped by a person"

    def _wait_for_torque(self, outcome: Outcome) -> None:
        until_s = time.monotonic() + _READY_S
        while not self._interrupt.asked and (outcome.last is None or outcome.last.mode != "IDLE"):
            self._collect(outcome)
            if time.monotonic() > until_s:
                got = "nothing" if outcome.last is None else f"{outcome.last.mode}: {outcome.last.reason}"
                raise RigError("loop", expected=f"torque on within {_READY_S:.0f} s", got=got, remedy="see its log")
            time.sleep(_POLL_S)

    def _collect(self, outcome: Outcome) -> None:
        self._tell("alive")
        if self._loop is not None and self._channel is not None and not self._channel.closed:
            self._take(outcome)
            if self._channel.closed and not self._interrupt.asked:
                self._loop.wait(1.0)
                self._loop.require_running()

    def _take(self, outcome: Outcome) -> None:
        for message in () if self._channel is None else _messages(self._channel):
            if isinstance(message, TickBatch):
                outcome.take(message)
            elif isinstance(message, LoopStatus):
                outcome.last = message

    def _end(self, outcome: Outcome) -> None:
        self._deadline.begin()
        self._tell("finish")
        while self._loop is not None and self._loop.running and self._deadline.left_s(reserve_s=_PROCESSES_S) > 0.0:
            self._tell("alive")  # an operator who is gone would hold the arms on their way to the park pose
            self._take(outcome)
            time.sleep(_POLL_S)
        self._take(outcome)
        if self._loop is not None:
            self._loop.end(self._deadline.left_s(_LOOP_S))
        if self._twin is not None:
            self._twin.close(park=False, timeout_s=self._deadline.left_s())
        if self._channel is not None:
            self._channel.close()

    def _tell(self, act: PersonAct) -> None:
        if self._channel is not None:
            local_codec.send(self._channel, PersonEvent(act))


def _messages(channel: Channel) -> Iterator[LocalMessage]:
    for _ in range(200):
        try:
            message = local_codec.receive(channel)
        except CodecError:
            continue
        if message is None:
            return
        yield message
