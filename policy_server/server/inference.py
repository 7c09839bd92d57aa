"""The one thread that owns the policy. It loads, warms up, and answers jobs one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Final

from contract.check_answer import check_chunk, check_frames
from contract.codec import encode
from contract.errors import BusyError, EngineError, FieldError, StackError
from contract.server_info import ServerInfo
from contract.types import ActionChunk, ImaginedFrames, ImagineRequest, Observation
from policy_server.server.outbox import Outbox
from policy_server.server.outermost import Outermost
from policy_server.server.reports import Answered, Loaded, LoadFailed, Outrun, Refused, Report
from policy_server.server.schedule import Job, Schedule
from policy_server.server.served_policy import PolicyLoader, ServedPolicy

_TURN_S: Final = 0.5


class Inference:
    """Runs `load` and then the jobs of `schedule`; every outcome is a report in `outbox`."""

    def __init__(self, load: PolicyLoader, schedule: Schedule, outbox: Outbox, clock: Callable[[], int]) -> None:
        self._load, self._schedule, self._outbox, self._clock = load, schedule, outbox, clock
        self._outermost = Outermost()
        self._thread = threading.Thread(target=self._main, name="inference", daemon=True)
        self._running: Job | None = None
        self._since_ns = 0

    def start(self) -> None:
        """Begin loading."""
        self._thread.start()

    def join(self, timeout_s: float) -> bool:
        """Wait for the end after `schedule.close()`; False when the engine is still inside a call."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def running(self) -> tuple[Job, int] | None:
        """The job in the engine and when it went in; read by the socket thread's watchdog."""
        job = self._running
        return None if job is None else (job, self._since_ns)

    def _main(self) -> None:
        with ExitStack() as stack:
            try:
                with self._outermost.frame("loading and warming up the policy"):
                    policy = self._load()
                    stack.callback(policy.close)
                    policy.warm_up()
                    info = policy.info("READY")
            except StackError as error:
                self._outbox.put(LoadFailed(error))
                return
            self._serve(policy, info)

    def _serve(self, policy: ServedPolicy, info: ServerInfo) -> None:
        self._outbox.put(Loaded(info))
        while not self._schedule.closed:
            job = self._schedule.take(_TURN_S)
            if job is not None:
                self._run(policy, info, job)

    def _run(self, policy: ServedPolicy, info: ServerInfo, job: Job) -> None:
        """Answer a job; replans that wait meanwhile run between the passes of an imagination."""
        outer = self._running

        def let_replans_go_first() -> None:
            self._since_ns = self._clock()
            if self._schedule.closed:
                raise BusyError("imagination", expected="a running server", got="one that stops", remedy="ask again")
            urgent = self._schedule.take_replan()
            if urgent is not None:
                self._run(policy, info, urgent)

        self._since_ns, self._running = self._clock(), job
        report = self._answer(policy, info, job, let_replans_go_first)
        self._since_ns, self._running = self._clock(), outer
        self._outbox.put(report)

    def _answer(self, policy: ServedPolicy, info: ServerInfo, job: Job, between: Callable[[], None]) -> Report:
        waited_ns = self._clock() - job.received_ns
        if 0 < job.observation.budget_ns <= waited_ns and not isinstance(job.question, ImagineRequest):
            return Outrun(job, waited_ns)
        try:
            with self._outermost.frame("engine"):
                return _ask(policy, info, job, self._clock, between)
        except StackError as error:
            return Refused(job, error, at_fault=not isinstance(error, FieldError | BusyError))


def _ask(
    policy: ServedPolicy, info: ServerInfo, job: Job, clock: Callable[[], int], between: Callable[[], None]
) -> Report:
    answer: ActionChunk | ImaginedFrames
    if isinstance(job.question, ImagineRequest):
        answer = policy.imagine(job.question, between)
    else:
        answer = _timed_replan(policy, job.question, job.received_ns, clock)
    try:
        _check(answer, job.observation, info)
        return Answered(job, encode(answer, job.request_id), answer if isinstance(answer, ActionChunk) else None)
    except StackError as error:  # the policy's fault, whatever kind of error describes it
        raise EngineError(
            f"answer of the policy, {error.what}", expected=error.expected, got=error.got, remedy=error.remedy
        ) from error


def _timed_replan(
    policy: ServedPolicy, observation: Observation, received_ns: int, clock: Callable[[], int]
) -> ActionChunk:
    """The answer with two durations more: `queue`, from receipt (undecoded) to its turn, and `served`, from receipt to
    the finished answer (not yet encoded). What a client does not find in them is the network's."""
    queued_ns = clock() - received_ns
    chunk = policy.replan(observation, lambda: clock() - received_ns)
    served_ns = clock() - received_ns
    return replace(chunk, durations_ns={**chunk.durations_ns, "queue": queued_ns, "served": served_ns})


def _check(answer: ActionChunk | ImaginedFrames, asked: Observation, info: ServerInfo) -> None:
    if isinstance(answer, ActionChunk):
        check_chunk(answer, asked, info)
    else:
        check_frames(answer, asked)
