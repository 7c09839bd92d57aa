"""Keeps one session with the server alive: hello, heartbeats, probes, silence, and all of it again after a loss."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from contract.bodies import Message
from contract.codec import Envelope, decode, encode, request_id_of
from contract.errors import StackError, from_wire
from contract.messages import ErrorReply, Goodbye, Ping, Pong, Probe, ProbeAnswer, Welcome
from contract.server_info import ServerInfo
from contract.wire import Buffer
from robot_client.link import greeting
from robot_client.link.budgets import Budgets
from robot_client.link.causes import Cause, no_session
from robot_client.link.counters import LinkCounters
from robot_client.link.pulse import Pulse
from robot_client.link.transport import NEVER_NS, Transport

LinkState = Literal["CLOSED", "CONNECTING", "READY", "SILENT", "REFUSED"]

_log = logging.getLogger("robot_client.link")
_UNASKED: Final = 0


class Connection:
    """State and traffic of one session. All calls from one thread; nothing waits but `wait`."""

    def __init__(
        self,
        address: str,
        session: str,
        roles: frozenset[str],
        budgets: Budgets,
        keys: Path | None,
        counters: LinkCounters,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.address, self.session = address, session
        self.state: LinkState = "CLOSED"
        self.server_state = ""
        """State in the newest pong."""
        self.info: ServerInfo | None = None
        self.refusal: StackError | None = None
        self.received_ns = 0
        """When the message in hand came out of the socket, before it was decoded."""
        self.generation = 0
        """Raised whenever requests of before can no longer be answered."""
        self._roles, self._counters, self._clock = roles, counters, clock
        self._pulse = Pulse(budgets)
        self._instance = greeting.new_instance()
        self._transport = Transport(address, keys, clock)
        self._last_id = self._hello_id = 0

    def open(self) -> None:
        """Begin to connect, or begin again after a refusal."""
        if self.state in ("CLOSED", "REFUSED"):
            self.refusal = None
            self._lose()
            self._transport.open()

    def close(self) -> None:
        """Say goodbye and give everything back; takes 100 ms at most, whatever is still unsent."""
        known = self.state in ("READY", "SILENT")
        self._transport.close(encode(Goodbye(self.session), self.next_id()) if known else None)
        self.state = "CLOSED"

    def next_id(self) -> int:
        """A request id that was never used before in this process."""
        self._last_id += 1
        return self._last_id

    def send(self, frames: Sequence[Buffer]) -> bool:
        """Send at once; False when it cannot be now."""
        return self._transport.send(frames)

    def wait(self, until_ns: int, wake_on: Sequence[int]) -> None:
        """Return when there may be something to do, at `until_ns` at the latest."""
        self._transport.wait(min(until_ns, self._next_due_ns()), wake_on)

    def traffic(self) -> Iterator[Envelope | tuple[int, StackError]]:
        """Answers to requests of the owner: envelopes, or (request id, error) for a broken one.

        Everything else (events, welcome, pongs, probes, timers) is dealt with on the way.
        """
        for frames in self._transport.receive():
            yield from self._take(frames)
        now_ns = self._clock()
        for cause in self._transport.follow(now_ns):
            if cause == "shaken":
                self._say_hello_again()
            elif cause != "connected":
                self._lose()
        self._follow_time(now_ns)

    def failure(self, budget_ms: float) -> StackError:
        """Why there is no session after `budget_ms`."""
        return self.refusal or no_session(self.address, budget_ms, self._transport.cause)

    def _take(self, frames: Sequence[Buffer]) -> Iterator[Envelope | tuple[int, StackError]]:
        self.received_ns = self._clock()
        try:
            envelope = decode(frames)
        except StackError as error:
            self._counters.unreadable += 1
            yield request_id_of(frames), error
            return
        self._heard()
        message = envelope.message
        if isinstance(message, Probe):
            self._answer_probe(message)
        elif isinstance(message, Pong):
            self.server_state = message.state
        elif isinstance(message, Welcome | ErrorReply) and self._hello_id and envelope.request_id == self._hello_id:
            self._take_verdict(message)
        else:
            if isinstance(message, ErrorReply) and message.code == "session":
                self._say_hello_again()
            yield envelope

    def _heard(self) -> None:
        self._pulse.heard(self._clock())
        if self.state == "SILENT":
            self.state = "READY"
            _log.info("%s answers again", self.address)

    def _answer_probe(self, probe: Probe) -> None:
        self._counters.probes += 1
        if probe.session == self.session and self.state == "READY":
            self._say(ProbeAnswer(self.session, self._instance), _UNASKED)

    def _take_verdict(self, verdict: Welcome | ErrorReply) -> None:
        self._hello_id = 0
        if isinstance(verdict, Welcome):
            self._take_welcome(verdict.info)
        elif verdict.code == "busy":
            self._transport.cause = "busy"
            self._pulse.hello_later(self._clock())
        else:
            self._refuse(from_wire(verdict.code, verdict.what, verdict.expected, verdict.got, verdict.remedy))

    def _take_welcome(self, info: ServerInfo) -> None:
        try:
            greeting.check_welcome(info, self._roles, self.info, self.address)
        except StackError as error:
            self._refuse(error)
            return
        self.info, self.state, self.server_state = info, "READY", info.state
        self.generation += 1
        self._counters.connections += 1
        self._transport.settled()
        _log.info("session %s with %s: %s on %s", self.session, self.address, info.model_id, info.runs_on)

    def _refuse(self, error: StackError) -> None:
        _log.error("refused: %s", error)
        self._lose()
        self._transport.rest()
        self.state, self.refusal = "REFUSED", error

    def _follow_time(self, now_ns: int) -> None:
        if self.state in ("CLOSED", "REFUSED") or not self._transport.has_socket:
            return
        if self.state == "CONNECTING":
            self._insist(now_ns)
        else:
            self._beat(now_ns)

    def _insist(self, now_ns: int) -> None:
        if self._may_say_hello() and now_ns >= self._pulse.hello_due_ns:
            self._hello_id = self.next_id()
            self._say(greeting.hello(self.session, self._instance), self._hello_id)
            self._pulse.hello_said(now_ns)
        if now_ns > self._giving_up_ns():
            self._give_up(self._transport.cause)

    def _beat(self, now_ns: int) -> None:
        number = self._pulse.ping(now_ns)
        if number is not None:
            self._say(Ping(self.session, number), self.next_id())
        if now_ns > self._giving_up_ns():
            self._give_up("shaken")
        elif self.state == "READY" and self._pulse.silent(now_ns):
            self.state = "SILENT"
            _log.warning("%s is silent", self.address)

    def _say_hello_again(self) -> None:
        """The server does not know us on this connection (it is new, or the server is)."""
        self._lose()
        self._pulse.hello_due_ns = 0
        self._insist(self._clock())

    def _give_up(self, cause: Cause) -> None:
        self._transport.drop(cause)
        self._lose()

    def _lose(self) -> None:
        """There is no session; what was asked cannot be answered any more."""
        self.state = "CONNECTING"
        self.generation += 1
        self._hello_id = 0

    def _say(self, message: Message, request_id: int) -> None:
        self.send(encode(message, request_id))

    def _may_say_hello(self) -> bool:
        return self._transport.cause in ("shaken", "busy")

    def _giving_up_ns(self) -> int:
        return self._pulse.giving_up_ns(self._transport.opened_ns)

    def _next_due_ns(self) -> int:
        if self.state in ("CLOSED", "REFUSED") or not self._transport.has_socket:
            return NEVER_NS
        if self.state == "CONNECTING":
            return (
                min(self._giving_up_ns(), self._pulse.hello_due_ns) if self._may_say_hello() else self._giving_up_ns()
            )
        return self._pulse.ping_due_ns
