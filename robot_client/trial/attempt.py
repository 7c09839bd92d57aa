"""One run of a trial: the demo's processes with the recorder, no view that would show which method runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contract.errors import RigError
from robot_client.demo.deadline import Deadline
from robot_client.demo.interrupt import Interrupt
from robot_client.demo.listening import see_loop_end, wait_ready
from robot_client.demo.processes import Processes
from robot_client.demo.settings import RunSettings
from robot_client.local_messages import LocalMessage, LoopStatus, PersonAct, RecorderStatus
from robot_client.trial.keys import Keys

_STEP_S: Final = 0.05
_ALIVE_S: Final = 0.2
_HOME_S: Final = 60.0
_DONE_S: Final = 10.0
_AFTER_S: Final = 1.0
"""The bag goes on a little after the verdict."""
_STOPPED: Final = ("HOLD", "FAULT", "FALLING")
_AT_HOME: Final = "pose:home reached"
"""Reason of the HOLD in which the way home ends."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended. `success` None: nobody has judged it yet; it was broken off when `broken_off` says so."""

    success: bool | None
    seconds: float
    stopped: str
    broken_off: bool
    episode: Path
    complete: bool


class Attempt:
    """`run` starts everything, engages, waits for a verdict or the time, and ends everything whatever happens."""

    def __init__(self, settings: RunSettings, interrupt: Interrupt, keys: Keys) -> None:
        self._settings, self._interrupt, self._keys = settings, interrupt, keys
        self._processes = Processes(settings, _say_nothing)
        self._deadline = Deadline(lambda: interrupt.asked_s)
        self._status: LoopStatus | None = None
        self._modes: set[str] = set()
        self._recorded: RecorderStatus | None = None
        self._alive_s = 0.0
        self._success: bool | None = None
        self._repeat = self._hold_asked = False
        self._stopped = ""
        self._seconds = 0.0

    def run(self) -> Ended:
        """The run. Raises `StackError` when something does not start or dies, KeyboardInterrupt while starting."""
        try:
            self._interrupt.starting()
            self._processes.start()
            wait_ready(self._processes, self._take)
            self._interrupt.running()
            self._engage()
            self._watch()
        finally:
            self._end()
        if self._recorded is None:
            raise RigError("recorder", expected="a status", got="none", remedy=f"see {self._processes.logs}")
        broken_off = self._interrupt.asked or self._repeat
        return Ended(
            None if broken_off else self._success,
            self._seconds,
            self._stopped,
            broken_off,
            Path(self._recorded.folder),
            self._recorded.finished and self._recorded.complete,
        )

    def _engage(self) -> None:
        """On real arms by way of the home pose, so that every run starts alike; a new twin stands there already."""
        if self._settings.rig == "yam":
            self._do("home", "HOLD", _HOME_S)
            if self._status is None or self._status.reason != _AT_HOME:
                raise self._not_by_itself()
            self._do("release", "IDLE")
        self._do("engage", "HANDOFF")

    def _do(self, act: PersonAct, mode: str, timeout_s: float = _DONE_S) -> None:
        """A person's act, and the mode it leads to, which may be over before we look."""
        self._modes.clear()
        self._processes.tell(act)
        until_s = time.monotonic() + timeout_s
        while not self._interrupt.asked:
            self._step()
            if self._hold_asked:
                raise self._not_by_itself()
            if mode in self._modes:
                return
            if time.monotonic() > until_s:
                raise RigError("arms", expected=f"mode {mode} within {timeout_s:g} s", got=self._mode())
            time.sleep(_STEP_S)

    def _not_by_itself(self) -> RigError:
        """A HOLD that somebody or something asked for is not left here: that is a person's part."""
        return RigError(
            "arms", expected="the way to the start, undisturbed", got=self._mode(), remedy="see why, then go on"
        )

    def _watch(self) -> None:
        begun_s = time.monotonic()
        over_s = begun_s + self._settings.seconds
        while not self._interrupt.asked and time.monotonic() < over_s:
            self._step()
            if self._judged() or self._repeat:
                self._seconds = self._seconds or time.monotonic() - begun_s
                over_s = min(over_s, begun_s + self._seconds + _AFTER_S)
            time.sleep(_STEP_S)
        self._seconds = self._seconds or time.monotonic() - begun_s

    def _step(self) -> None:
        for message in self._processes.messages():
            self._take(message)
        self._processes.require_running()
        if time.monotonic() >= self._alive_s:
            self._alive_s = time.monotonic() + _ALIVE_S
            self._processes.tell("alive")
        self._heed(self._keys.pressed())

    def _heed(self, key: str) -> None:
        if key == " ":
            self._hold_asked = True
            self._processes.tell("hold")
        elif key in ("y", "n"):
            self._success = key == "y"
        self._repeat = self._repeat or key == "r"

    def _judged(self) -> bool:
        """The twin's own eyes, a key, or a loop that stopped by itself, which is no success."""
        if self._processes.twin is not None and self._success is None:
            seen = self._processes.twin.status()
            self._success = True if seen is not None and seen.success else None
        status = self._status
        if self._success is None and status is not None and status.mode in _STOPPED and not self._stopped:
            self._stopped = "" if "by a person" in status.reason else f"{status.mode}: {status.reason}"
        return self._success is not None or bool(self._stopped)

    def _take(self, message: LocalMessage) -> None:
        if isinstance(message, LoopStatus):
            self._status = message
            self._modes.add(message.mode)
        elif isinstance(message, RecorderStatus):
            self._recorded = message

    def _mode(self) -> str:
        return "no status" if self._status is None else f"{self._status.mode}: {self._status.reason}"

    def _end(self) -> None:
        self._interrupt.running()
        self._deadline.begin()
        self._processes.tell("finish")
        see_loop_end(self._processes, self._deadline, self._take)
        self._processes.end(self._deadline.left_s, take=self._take)


def settled(ended: Ended, keys: Keys, interrupt: Interrupt, ask: Callable[[str], None], judges_itself: bool) -> Ended:
    """With a verdict, if it can be had: what judges itself has failed when the time is over, else the operator is
    asked. `r` or Ctrl-C breaks the run off, so that it is repeated."""
    if ended.broken_off or ended.success is not None:
        return ended
    if judges_itself or ended.stopped:
        return _with(ended, False)
    ask("the time is over: y success, n failure, r repeat this run")
    key = ""
    while key not in ("y", "n", "r") and not interrupt.asked:
        key = keys.pressed(_STEP_S)
    return _with(ended, key == "y" if key in ("y", "n") else None)


def _with(ended: Ended, success: bool | None) -> Ended:
    broken_off = success is None
    return Ended(success, ended.seconds, ended.stopped, broken_off, ended.episode, ended.complete)


def _say_nothing(text: str) -> None:
    """Lines of the processes are in their logs; nothing of a run is shown that could tell its method."""
