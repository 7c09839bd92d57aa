"""One run from start to report: start the processes, engage the policy, watch, end, write down."""

from __future__ import annotations

import time
from contextlib import nullcontext
from functools import partial
from typing import Final

from rich.console import Console

from contract.station import load_station
from robot_client.clock import MonotonicClock
from robot_client.demo.controls import Controls
from robot_client.demo.deadline import Deadline
from robot_client.demo.drawing import Drawing
from robot_client.demo.filming import Filming
from robot_client.demo.history import History
from robot_client.demo.interrupt import Interrupt
from robot_client.demo.processes import Processes
from robot_client.demo.settings import RunSettings
from robot_client.demo.shown import Shown
from robot_client.demo.view import Seen, line
from robot_client.demo.watcher import Watcher
from robot_client.episodes.feed import FeedSender
from robot_client.link.policy_link import PolicyLink
from robot_client.local_messages import (
    LocalMessage,
    LoopStatus,
    PlanFailure,
    PolicyReady,
    RecorderStatus,
    ReplanRecord,
)
from robot_client.process_config import RigConfig
from robot_client.rigs.choose import make_rig
from robot_client.teleop.side import present, required
from robot_client.terminal_keys import TerminalKeys

STEP_S: Final = 0.1
PROCESSES_S: Final = 2.3
"""Kept of the whole end for ending the processes and for the report; before that the loop brakes, holds and parks."""
REPORT_S: Final = 0.6
"""Kept for the report."""
GOODBYE_S: Final = 0.2
AFTER_SUCCESS_S: Final = 2.0
AFTER_HOLD_S: Final = 2.0
STOPPED: Final = ("HOLD", "FAULT", "FALLING")


class Run:
    """Everything one run knows. `conduct` does it all; the processes are ended whatever happens."""

    def __init__(self, settings: RunSettings, interrupt: Interrupt, console: Console) -> None:
        self._settings, self._interrupt, self._console = settings, interrupt, console
        self.history = History(settings.instruction)
        self.seen = Seen("starting", "", settings.instruction, seconds=settings.seconds or None)
        self.final: LoopStatus | None = None
        self.success = False
        self.stopped = ""
        """Mode and reason when the loop stopped before the run was over."""
        self.recorded: RecorderStatus | None = None
        self._processes = Processes(settings, self._say)
        self._watcher: Watcher | None = None
        self._filming = Filming(settings.out / "twin.mp4", self._say_trouble)
        self._deadline = Deadline(lambda: interrupt.asked_s)
        self.drawing = Drawing(self._deadline.patience_s)
        self._policy: PolicyReady | None = None
        self._keys = TerminalKeys()
        self._controls = Controls(self._processes.tell, settings.policy, leader=False)

    @property
    def facts(self) -> dict[str, str]:
        """Name and value of what the run was, for the report."""
        settings, policy = self._settings, self._policy
        info = self._watcher.info if self._watcher else None
        return {
            "policy": f"{policy.model_id}{'' if policy.trained else ' (untrained)'}" if policy else "none",
            "engine": policy.engine_id if policy else "none",
            "runs on": info.runs_on if info else "",
            "TR calibration": info.calibration if info else "",
            "guidance": settings.guidance,
            "station": f"{settings.station}, rig {settings.rig}, seed {settings.seed}",
            "injected faults": settings.inject or "none",
            "modes": ", ".join(self.history.modes),
            "stopped early": self.stopped or "no",
            "task succeeded": "yes" if self.success else "no",
            "failed requests": str(len(self.history.failures)),
            "imagined clips": str(self._watcher.answered if self._watcher else 0),
            "trouble with imagining": self.imagining_trouble or "none",
            "ticks in POLICY without a row": str(self.history.unplanned_ticks()),
            "ticks on a chunk that no server answered": str(self.history.unanswered_ticks()),
        }

    @property
    def imagining_trouble(self) -> str:
        """The last thing that went wrong with the imagined frames, which are only for people."""
        return self._watcher.trouble if self._watcher else ""

    @property
    def notice(self) -> str:
        """What must not be overlooked."""
        if self._policy is None or self._policy.trained:
            return ""
        return "UNTRAINED WEIGHTS: the arms move, but to no purpose"

    def conduct(self) -> None:
        """The run. Raises `StackError` when something does not start or dies."""
        with nullcontext() if self._settings.headless else self._keys:
            try:
                self._interrupt.starting()
                self._start()
                self._watch()
            finally:
                self._end()

    def _start(self) -> None:
        self._choose_leader()
        self._processes.start()
        self._policy = self._processes.wait_ready(self._take)
        self.seen.notice = self.notice
        self.seen.banner = f"{self._policy.model_id} on {self._policy.engine_id}" if self._policy else "no policy"
        self._console.print(self.seen.banner, highlight=False)
        if self.notice:
            self._console.print(self.notice, style="bold red", highlight=False)
        if self._settings.imagine_every_s > 0:
            self._start_watcher()
        self._interrupt.running()
        if self._policy is not None:
            self._processes.tell("engage")
        self.drawing.start()  # not when the end has come: loading it takes seconds on a busy machine

    def _choose_leader(self) -> None:
        settings = self._settings
        choose = present if settings.policy else required
        kind = choose(settings.leader, self._keys.present, load_station(settings.station))
        self._processes.leader_kind = kind
        self._controls = Controls(self._processes.tell, settings.policy, leader=kind is not None)

    def _obey_keys(self) -> None:
        """Passes on what a person typed; a sign of life goes with it, so a screen that hangs is noticed."""
        side = self._processes.leader
        self._controls.jog = side.press if side is not None and side.kind == "keyboard" else None
        for key in self._keys.take():
            self._controls.press(key)
        if self._controls.ended:
            self._interrupt.ask()
        self.seen.keys = self._controls.help if self._keys.present else ""
        self._processes.tell("alive")

    def _take_over(self) -> None:
        """Without a policy and without keys the leader is handed the arms as soon as it can have them."""
        status = self.seen.status
        if not self._settings.policy and not self._keys.present and status is not None and status.mode == "IDLE":
            self._processes.tell("teleop")

    def _start_watcher(self) -> None:
        settings = self._settings
        station = load_station(settings.station)
        config = RigConfig(station=settings.station, rig=settings.rig, run_dir=self._processes.rig_dir)
        session = f"watcher-{self._processes.run_dir.name[-8:]}"
        link = PolicyLink(self._processes.address, session, frozenset(camera.role for camera in station.cameras))
        rig = make_rig(config, station, MonotonicClock())
        feed = self._processes.recorder_address
        recorder = FeedSender(feed, counted=False) if feed else None
        every_s = settings.imagine_every_s
        self._watcher = Watcher(link, rig, station, session, settings.instruction, every_s, recorder)
        self._watcher.start()

    def _watch(self) -> None:
        begun_s = time.monotonic()
        over_s = begun_s + self._settings.seconds if self._settings.seconds else float("inf")
        with self._shown() as show:
            tick = 0
            while not self._interrupt.asked and time.monotonic() < over_s:
                self._obey_keys()
                self._collect()
                self._take_over()
                self.seen.elapsed_s = time.monotonic() - begun_s
                show()
                over_s = min(over_s, self._early_end_s())
                tick += 1
                time.sleep(max(0.0, begun_s + tick * STEP_S - time.monotonic()))

    def _early_end_s(self) -> float:
        """When to end before the time is up: soon after success, or when the loop stopped by itself. With a person at
        the keys a HOLD ends nothing: they resume, take over or park."""
        now_s, status = time.monotonic(), self.seen.status
        attended = self._keys.present and status is not None and status.mode == "HOLD"
        if status is not None and status.mode in STOPPED and not self.stopped and not attended:
            self.stopped = f"{status.mode}: {status.reason}"
        if self.success:
            return now_s + AFTER_SUCCESS_S
        return now_s + AFTER_HOLD_S if self.stopped else float("inf")

    def _collect(self) -> None:
        for message in self._processes.messages():
            self._take(message)
        self._processes.misbehave()
        self._processes.require_running()
        twin = self._processes.twin
        if twin is None:
            return
        status, frame = twin.status(), twin.overview()
        if status is not None:
            self.success = self.success or status.success
            self.seen.task = f"{status.phase}{', done' if status.success else ''}"
        if frame is not None:
            imagined = self._watcher.frame() if self._watcher else None
            self._filming.add(frame.image, imagined, self._caption())

    def _caption(self) -> str:
        return f"{self._settings.instruction}  |  {line(self.seen).strip()}"

    def _take(self, message: LocalMessage) -> None:
        self.history.add(message)
        seen = self.seen
        if isinstance(message, LoopStatus):
            seen.status = message
            self.final = message if message.finished else self.final
        elif isinstance(message, ReplanRecord):
            seen.replan = message
            seen.replans += 1
            seen.rate_hz = self.history.replan_rate_hz()
            seen.branch_counts = self.history.branch_counts()
        elif isinstance(message, PlanFailure):
            seen.failure = message.text
        elif isinstance(message, RecorderStatus):
            self._recorder_says(message)

    def _recorder_says(self, status: RecorderStatus) -> None:
        """Trouble with the recording never stops the arms; it is said at once, and at the end."""
        if status.trouble and (self.recorded is None or not self.recorded.trouble):
            self._say_trouble(f"recording: {status.trouble}")
        self.recorded = status

    def _end(self) -> None:
        self._interrupt.running()
        self._deadline.begin()
        self._processes.tell("finish")
        try:
            self._say("ending: brake and hold" if self._settings.rig == "yam" else "ending: brake, hold, park")
        finally:
            self._see_it_end()  # also when nobody reads what we say any more

    def _see_it_end(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()
        while self._loop_runs() and self._deadline.left_s(reserve_s=PROCESSES_S) > 0.0:
            self._processes.tell("alive")
            for message in self._processes.messages():
                self._take(message)
            time.sleep(0.02)
        for message in self._processes.messages():
            self._take(message)
        self._processes.end(partial(self._deadline.left_s, reserve_s=REPORT_S), take=self._take)
        if self._watcher is not None:
            self._watcher.wait(self._deadline.left_s(GOODBYE_S, REPORT_S))
        self._filming.close()

    def _loop_runs(self) -> bool:
        return self._processes.loop is not None and self._processes.loop.running

    def _shown(self) -> Shown:
        return Shown(self._console, self.seen, live=not self._settings.headless and self._console.is_terminal)

    def _say_trouble(self, text: str) -> None:
        self._console.print(text, style="bold red", highlight=False, soft_wrap=True)

    def _say(self, text: str) -> None:
        self._console.print(text, style="dim", highlight=False, soft_wrap=True)
