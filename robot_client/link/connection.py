"""Keeps one session with the server alive: connect, hello, heartbeats, probes, silence, and connect again."""

from __future__ import annotations

import logging
import select
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

import zmq

from contract.bodies import Message
from contract.codec import Envelope, decode, encode, request_id_of
from contract.errors import StackError, from_wire
from contract.messages import ErrorReply, Goodbye, Ping, Pong, Probe, ProbeAnswer, Welcome
from contract.server_info import ServerInfo
from contract.wire import Buffer
from robot_client.link import greeting
from robot_client.link.backoff import Backoff
from robot_client.link.budgets import Budgets
from robot_client.link.causes import Cause, no_session
from robot_client.link.counters import LinkCounters
from robot_client.link.dealer import GOODBYE_MS, Dealer, Event, open_dealer

LinkState = Literal["CLOSED", "CONNECTING", "READY", "SILENT", "REFUSED"]

_log = logging.getLogger("robot_client.link")
_HELLO_NS: Final = 400_000_000
"""Between two hellos while the server says nothing; longer than its 300 ms for a probe."""
_BUSY_NS: Final = 100_000_000
"""Between two hellos while the server loads."""
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
        self.generation = 0
        """Raised whenever requests of before can no longer be answered."""
        self._roles, self._budgets, self._keys = roles, budgets, keys
        self._counters, self._clock = counters, clock
        self._instance = greeting.new_instance()
        self._backoff = Backoff()
        self._context: zmq.Context | None = None
        self._dealer: Dealer | None = None
        self._cause: Cause = "none"
        self._last_id = 0
        self._hello_id = self._pings = 0
        self._heard_ns = self._opened_ns = self._retry_ns = self._hello_due_ns = self._ping_due_ns = 0

    def open(self) -> None:
        """Begin to connect, or begin again after a refusal."""
        if self._context is None:
            self._context = zmq.Context()
        if self.state in ("CLOSED", "REFUSED"):
            self.refusal = None
            self._drop_dealer("none")
            self._retry_ns = self._clock()

    def close(self) -> None:
        """Say goodbye and give everything back; takes at most `GOODBYE_MS` whatever is still unsent."""
        if self._dealer is not None:
            if self.state in ("READY", "SILENT"):
                self._dealer.send(encode(Goodbye(self.session), self.next_id()))
            self._dealer.close(GOODBYE_MS)
            self._dealer = None
        if self._context is not None:
            self._context.term()
            self._context = None
        self.state = "CLOSED"

    def next_id(self) -> int:
        """A request id that was never used before in this process."""
        self._last_id += 1
        return self._last_id

    def send(self, frames: Sequence[Buffer]) -> bool:
        """Send at once; False when it cannot be now."""
        return self._dealer is not None and self._dealer.send(frames)

    def wait(self, until_ns: int, wake_on: Sequence[int]) -> None:
        """Return when there may be something to do, at `until_ns` at the latest."""
        timeout_ms = max(0, -(-(min(until_ns, self._next_due_ns()) - self._clock()) // 1_000_000))
        if self._dealer is not None:
            self._dealer.wait(timeout_ms, wake_on)
        else:
            select.select(wake_on, (), (), timeout_ms / 1e3)

    def traffic(self) -> Iterator[Envelope | tuple[int, StackError]]:
        """Answers to requests of the owner: envelopes, or (request id, error) for a broken one.

        Everything else (events, welcome, pongs, probes, timers) is dealt with on the way.
        """
        if self._dealer is not None:
            for frames in self._dealer.receive():
                yield from self._take(frames)
        self._follow_events()
        self._follow_time(self._clock())

    def failure(self, budget_ms: float) -> StackError:
        """Why there is no session after `budget_ms`."""
        if self.refusal is not None:
            return self.refusal
        return no_session(self.address, budget_ms, self._cause)

    # -- incoming --

    def _take(self, frames: Sequence[Buffer]) -> Iterator[Envelope | tuple[int, StackError]]:
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
        elif isinstance(message, Welcome | ErrorReply) and envelope.request_id == self._hello_id:
            self._take_verdict(message)
        else:
            if isinstance(message, ErrorReply) and message.code == "session":
                self._say_hello_again()
            yield envelope

    def _heard(self) -> None:
        self._heard_ns = self._clock()
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
            self._cause = "busy"
            self._hello_due_ns = self._clock() + _BUSY_NS
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
        self._backoff.reset()
        _log.info("session %s with %s: %s on %s", self.session, self.address, info.model_id, info.runs_on)

    def _refuse(self, error: StackError) -> None:
        _log.error("refused: %s", error)
        self._drop_dealer("none")
        self.state, self.refusal = "REFUSED", error

    # -- connection --

    def _follow_events(self) -> None:
        for event in self._dealer.events() if self._dealer is not None else ():
            self._follow(event)
            if self._dealer is None:
                return

    def _follow(self, event: Event) -> None:
        if event in ("connected", "shaken"):
            self._cause = event
            if event == "shaken":
                self._say_hello_again()
        else:
            self._drop_dealer(event)

    def _follow_time(self, now_ns: int) -> None:
        if self.state in ("CLOSED", "REFUSED"):
            return
        if self._dealer is None:
            self._open_dealer(now_ns)
        elif self.state == "CONNECTING":
            self._insist(now_ns)
        else:
            self._beat(now_ns)

    def _open_dealer(self, now_ns: int) -> None:
        if now_ns >= self._retry_ns and self._context is not None:
            self._dealer = open_dealer(self._context, self.address, self._keys)
            self._opened_ns = now_ns

    def _insist(self, now_ns: int) -> None:
        if self._cause in ("shaken", "busy") and now_ns >= self._hello_due_ns:
            self._hello_id = self.next_id()
            self._say(greeting.hello(self.session, self._instance), self._hello_id)
            self._hello_due_ns = now_ns + _HELLO_NS
        if now_ns - max(self._opened_ns, self._heard_ns) > self._patience_ns():
            self._drop_dealer(self._cause)

    def _beat(self, now_ns: int) -> None:
        if now_ns >= self._ping_due_ns:
            self._pings += 1
            self._say(Ping(self.session, self._pings), self.next_id())
            self._ping_due_ns = now_ns + int(self._budgets.heartbeat_ms * 1e6)
        quiet_ns = now_ns - self._heard_ns
        if quiet_ns > self._patience_ns():
            self._drop_dealer("shaken")
        elif quiet_ns > self._budgets.silent_ms * 1e6 and self.state == "READY":
            self.state = "SILENT"
            _log.warning("%s is silent", self.address)

    def _patience_ns(self) -> int:
        return int(3e6 * self._budgets.silent_ms)

    def _say_hello_again(self) -> None:
        """The server does not know us on this connection (it is new, or the server is)."""
        self.state = "CONNECTING"
        self.generation += 1
        self._hello_due_ns, self._hello_id = 0, 0
        self._insist(self._clock())

    def _drop_dealer(self, cause: Cause) -> None:
        self.state = "CONNECTING"
        self.generation += 1
        self._cause, self._hello_id = cause, 0
        self._retry_ns = self._clock() + self._backoff.pause_ns()
        if self._dealer is not None:
            self._dealer.close()
            self._dealer = None

    def _say(self, message: Message, request_id: int) -> None:
        self.send(encode(message, request_id))

    def _next_due_ns(self) -> int:
        if self.state in ("CLOSED", "REFUSED"):
            return 2**63
        if self._dealer is None:
            return self._retry_ns
        if self.state == "CONNECTING":
            giving_up_ns = max(self._opened_ns, self._heard_ns) + self._patience_ns()
            return min(giving_up_ns, self._hello_due_ns) if self._cause in ("shaken", "busy") else giving_up_ns
        return self._ping_due_ns
