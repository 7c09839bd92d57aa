"""One run from start to report: start the processes, engage the policy, watch, end, write down."""

from __future__ import annotations

import time
from functools import partial
from typing import Final

from rich.console import Console

from robot_client.demo.deadline import Deadline
from robot_client.demo.drawing import Drawing
from robot_client.demo.filming import Filming
from robot_client.demo.history import History
from robot_client.demo.imagining import watcher_of
from robot_client.demo.interrupt import Interrupt
from robot_client.demo.listening import see_loop_end, wait_ready
from robot_client.demo.operator import Operator
from robot_client.demo.processes import Processes
from robot_client.demo.report import Charts, asked_charts
from robot_client.demo.run_facts import run_facts
from robot_client.demo.run_log import RunLog
from robot_client.demo.settings import RunSettings
from robot_client.demo.shown import Shown
from robot_client.demo.view import Seen, line
from robot_client.demo.watcher import Watcher
from robot_client.local_messages import LoopStatus, PolicyReady, RecorderStatus

STEP_S: Final = 0.1
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
        self._log = RunLog(settings.instruction, settings.seconds, self._say_trouble)
        self.success = False
        self.stopped = ""
        """Mode and reason when the loop stopped before the run was over."""
        self._processes = Processes(settings, self._say)
        self._watcher: Watcher | None = None
        self._filming = Filming(settings.out / "twin.mp4", self._say_trouble)
        self._deadline = Deadline(lambda: interrupt.asked_s)
        self._as_asked = False
        self.drawing = Drawing(self._deadline.patience_s)
        self.charts: Charts | None = None
        """Of the report, asked for when the loop was gone; None before."""
        self._policy: PolicyReady | None = None
        self._operator = Operator(settings, interrupt, self._log.seen)

    @property
    def history(self) -> History:
        """Of ticks, replans and failures."""
        return self._log.history

    @property
    def seen(self) -> Seen:
        """What the view shows."""
        return self._log.seen

    @property
    def final(self) -> LoopStatus | None:
        """The loop's last word; None when it had none."""
        return self._log.final

    @property
    def recorded(self) -> RecorderStatus | None:
        """The recorder's last word; None when nothing was recorded."""
        return self._log.recorded

    @property
    def facts(self) -> dict[str, str]:
        """Name and value of what the run was, for the report."""
        return run_facts(self._settings, self.history, self._policy, self._watcher, self.stopped, self.success)

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
        with self._operator.keys:
            try:
                self._interrupt.starting()
                self._start()
                self._watch()
                self._as_asked = not self.stopped
            finally:
                self._end()

    def _start(self) -> None:
        self._operator.choose_leader(self._processes)
        self._processes.start()
        self._policy = wait_ready(self._processes, self._log.take)
        self.seen.notice = self.notice
        self.seen.banner = f"{self._policy.model_id} on {self._policy.engine_id}" if self._policy else "no policy"
        self._console.print(self.seen.banner, highlight=False)
        if self.notice:
            self._console.print(self.notice, style="bold red", highlight=False)
        if self._settings.imagine_every_s > 0:
            self._watcher = watcher_of(self._settings, self._processes)
            self._watcher.start()
        self._interrupt.running()
        if self._policy is not None:
            self._processes.tell("engage")
        self.drawing.start()  # not when the end has come: loading it takes seconds on a busy machine

    def _watch(self) -> None:
        begun_s = time.monotonic()
        over_s = begun_s + self._settings.seconds if self._settings.seconds else float("inf")
        with self._shown() as show:
            tick = 0
            while not self._interrupt.asked and time.monotonic() < over_s:
                self._operator.act(self._processes)
                self._collect()
                self._operator.take_over(self._processes)
                self.seen.elapsed_s = time.monotonic() - begun_s
                show()
                over_s = min(over_s, self._early_end_s())
                tick += 1
                time.sleep(max(0.0, begun_s + tick * STEP_S - time.monotonic()))

    def _early_end_s(self) -> float:
        """When to end before the time is up: soon after success, or when the loop stopped by itself. With a person at
        the keys a HOLD ends nothing: they resume, take over or park."""
        now_s, status = time.monotonic(), self.seen.status
        attended = self._operator.present and status is not None and status.mode == "HOLD"
        worse = status is not None and status.mode == "FALLING"  # known after the HOLD, when a holder was killed
        if status is not None and status.mode in STOPPED and (worse or not self.stopped) and not attended:
            self.stopped = f"{status.mode}: {status.reason}"
        if self.success:
            return now_s + AFTER_SUCCESS_S
        return now_s + AFTER_HOLD_S if self.stopped else float("inf")

    def _collect(self) -> None:
        for message in self._processes.messages():
            self._log.take(message)
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

    def _end(self) -> None:
        self._interrupt.running()
        self._deadline.begin(at_leisure=self._as_asked)
        self._processes.tell("finish")
        try:
            self._say("ending: brake and hold" if self._settings.rig == "yam" else "ending: brake, hold, park")
        finally:
            self._see_it_end()  # also when nobody reads what we say any more

    def _see_it_end(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()
        try:
            see_loop_end(self._processes, self._deadline, self._log.take)
            self.charts = asked_charts(self.history, self.drawing)  # while we wait for the processes
        finally:
            self._processes.end(partial(self._deadline.left_s, reserve_s=REPORT_S), take=self._log.take)
        if self._watcher is not None:
            self._watcher.wait(self._deadline.left_s(GOODBYE_S, REPORT_S))
        self._filming.close()

    def _shown(self) -> Shown:
        return Shown(self._console, self.seen, live=not self._settings.headless and self._console.is_terminal)

    def _say_trouble(self, text: str) -> None:
        self._console.print(text, style="bold red", highlight=False, soft_wrap=True)

    def _say(self, text: str) -> None:
        self._console.print(text, style="dim", highlight=False, soft_wrap=True)
