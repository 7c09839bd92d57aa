"""The server's front desk: one decoded message in, answers out. No sockets and no engine in here."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from contract.bodies import KINDS, Message
from contract.check import check_observation
from contract.codec import decode, request_id_of
from contract.errors import BusyError, EngineError, FieldError, StackError
from contract.messages import Goodbye, Hello, Ping, Pong, ProbeAnswer
from contract.server_info import ServerInfo, ServerState
from contract.types import ImagineRequest, Observation
from contract.wire import Buffer
from policy_server.server.counters import Counters
from policy_server.server.doorman import Doorman
from policy_server.server.history import History
from policy_server.server.log_lines import Seldom, log_line
from policy_server.server.replies import Replies, Send
from policy_server.server.reports import Answered, Loaded, LoadFailed, Outrun, Refused, Report
from policy_server.server.schedule import Job, Schedule
from policy_server.server.sessions import SessionTable

_log = logging.getLogger("policy_server.server")
_FROM_CLIENTS: Final = (Hello, Ping, ProbeAnswer, Goodbye, Observation, ImagineRequest)


class Desk:
    """Answers hello and ping at once, checks and queues questions, forwards what the engine reports."""

    def __init__(self, send: Send, schedule: Schedule) -> None:
        self._schedule = schedule
        self._loaded: ServerInfo | None = None
        self.state: ServerState = "LOADING"
        self.counters = Counters()
        self.history = History()
        self._seldom = Seldom()
        self._sessions = SessionTable()
        self._replies = Replies(send, self.counters)
        self._doorman = Doorman(self._sessions, schedule, self._replies, self.counters, self.info)

    def info(self) -> ServerInfo:
        """The present ServerInfo. Raises `BusyError` while the policy loads."""
        loaded = self._require_loaded()
        return loaded.model_copy(update={"state": self.state})

    def _require_loaded(self) -> ServerInfo:
        if self._loaded is None:
            raise BusyError("server", expected="READY", got="LOADING", remedy="the policy is loading; ask again")
        return self._loaded

    @property
    def sessions(self) -> int:
        """How many session names are held."""
        return len(self._sessions)

    def handle(self, peer: bytes, frames: Sequence[Buffer], now_ns: int) -> None:
        """Take one message of `peer`. Whatever is wrong with it becomes an error reply or a counted drop."""
        self.counters.received += 1
        try:
            envelope = decode(frames)
        except StackError as error:
            self._replies.refuse_bytes(peer, request_id_of(frames), error)
            return
        try:
            self._dispatch(peer, envelope.request_id, envelope.message, now_ns)
        except StackError as error:
            self._replies.refuse(peer, envelope.request_id, error)

    def tick(self, now_ns: int) -> None:
        """What falls due with time alone."""
        self._doorman.tick(now_ns)

    def next_due_ns(self) -> int | None:
        """When `tick` has something to do."""
        return self._doorman.next_due_ns()

    def report(self, report: Report) -> None:
        """Forward what the engine did. Raises the error of a policy that could not be loaded."""
        if isinstance(report, Loaded):
            self._loaded, self.state = report.info, "READY"
        elif isinstance(report, LoadFailed):
            raise report.error
        else:
            self._note_health(report)
            self._deliver(report)

    def hung(self, job: Job, error: EngineError) -> None:
        """The engine does not come back from `job`; its client is told before the server ends."""
        self.state = "FAULT"
        self._replies.refuse(job.peer, job.request_id, error)

    def _dispatch(self, peer: bytes, request_id: int, message: Message, now_ns: int) -> None:
        if isinstance(message, Hello):
            self._doorman.hello(peer, request_id, message, now_ns)
        elif isinstance(message, Observation | ImagineRequest):
            self._question(peer, request_id, message, now_ns)
        elif isinstance(message, Ping):
            self._sessions.of(message.session, peer).heard_ns = now_ns
            self._replies.reply(peer, request_id, Pong(message.sequence, self.state))
        elif isinstance(message, ProbeAnswer):
            self._doorman.probe_answer(peer, message, now_ns)
        elif isinstance(message, Goodbye):
            self._doorman.leave(self._sessions.of(message.session, peer))
        else:
            kinds = ", ".join(KINDS[kind] for kind in _FROM_CLIENTS)
            raise FieldError(
                "kind", expected=kinds, got=KINDS[type(message)], remedy="only the server sends the others"
            )

    def _question(self, peer: bytes, request_id: int, question: Observation | ImagineRequest, now_ns: int) -> None:
        job = Job(self._sessions.of(_observation(question).session, peer), peer, request_id, question, now_ns)
        job.session.heard_ns = now_ns
        check_observation(job.observation, self._require_loaded())
        older = self._schedule.put(job)
        if older is not None:
            self.counters.superseded += 1
            self._replies.skip(older, f"superseded by sequence {job.observation.sequence}")

    def _note_health(self, report: Answered | Outrun | Refused) -> None:
        """FAULT means that the last engine call failed. The next request is tried; a good answer ends the fault."""
        if isinstance(report, Answered):
            if self.state == "FAULT":
                _log.warning(log_line("ready_again", faults=self.counters.engine_faults))
            self.state = "READY"
        elif isinstance(report, Refused) and report.at_fault:
            self.counters.engine_faults += 1
            times = self._seldom.count(report.error.what)
            if self.state != "FAULT" or times is not None:
                _log.error(log_line("fault", error=report.error, faults=self.counters.engine_faults))
            self.state = "FAULT"

    def _deliver(self, report: Answered | Outrun | Refused) -> None:
        job = report.job
        if not self._sessions.is_current(job.session):
            self.counters.orphaned += 1
        elif isinstance(report, Answered):
            self._count(report)
            self._replies.forward(job.peer, report.frames)
        elif isinstance(report, Outrun):
            self.counters.too_late += 1
            budget_ms = job.observation.budget_ns / 1e6
            self._replies.skip(job, f"waited {report.waited_ns / 1e6:.0f} ms of a budget of {budget_ms:.0f} ms")
        else:
            self._replies.refuse(job.peer, job.request_id, report.error)

    def _count(self, report: Answered) -> None:
        if isinstance(report.job.question, ImagineRequest):
            self.counters.imagined += 1
            return
        self.counters.replans += 1
        if report.chunk is not None:
            self.history.note(report.chunk)


def _observation(question: Observation | ImagineRequest) -> Observation:
    return question.observation if isinstance(question, ImagineRequest) else question
