"""The server as a whole: the socket thread's loop around desk, outbox and inference."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import zmq
from zmq.auth.thread import ThreadAuthenticator

from contract.errors import EngineError, StackError
from contract.server_info import ServerInfo, ServerState
from policy_server.server import router
from policy_server.server.bind import DEFAULT_BIND, bind_endpoint
from policy_server.server.counters import Counters
from policy_server.server.desk import Desk
from policy_server.server.inference import Inference
from policy_server.server.keys import secure
from policy_server.server.outbox import open_outbox
from policy_server.server.schedule import Schedule
from policy_server.server.served_policy import PolicyLoader
from policy_server.server.status import Status, status_of

if TYPE_CHECKING:
    from policy_server.server.pages import Pages

_POLL_MS: Final = 100
_MESSAGES_A_TURN: Final = 64
_JOIN_S: Final = 1.0
_LAST_WORDS_MS: Final = 100


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """How to serve. `hang_s`: longest replan, or pass of an imagination, before the server gives itself up."""

    bind: str = DEFAULT_BIND
    insecure: bool = False
    keys: Path | None = None
    hang_s: float = 30.0
    metrics: str | None = None
    """HOST:PORT of the pages `/metrics` and `/status`; None = no pages."""


class PolicyServer:
    """One policy on one endpoint. Made by `open_server`; `turn` until told otherwise, then `close`, from one thread."""

    def __init__(
        self,
        socket: zmq.Socket,
        guard: ThreadAuthenticator | None,
        load: PolicyLoader,
        hang_s: float,
        clock: Callable[[], int],
    ) -> None:
        self._socket, self._guard, self._hang_s, self._clock = socket, guard, hang_s, clock
        self._schedule, self._outbox = Schedule(), open_outbox()
        self._desk = Desk(lambda peer, frames: router.send(socket, peer, frames), self._schedule)
        self._inference = Inference(load, self._schedule, self._outbox, clock)
        self._started_ns = clock()
        self.pages: Pages | None = None
        self._poller = zmq.Poller()
        self._poller.register(socket, zmq.POLLIN)
        self._poller.register(self._outbox.fileno(), zmq.POLLIN)

    @property
    def endpoint(self) -> str:
        """Where it listens, with the real port."""
        return self._socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0")

    @property
    def state(self) -> ServerState:
        """LOADING, READY or FAULT."""
        return self._desk.state

    @property
    def counters(self) -> Counters:
        """What was done since start."""
        return self._desk.counters

    @property
    def wakeup_descriptor(self) -> int:
        """Writing a byte here ends the wait of `turn`; fit for `signal.set_wakeup_fd`."""
        return self._outbox.ring_descriptor

    def info(self) -> ServerInfo:
        """What clients are told. Raises `BusyError` while the policy loads."""
        return self._desk.info()

    def status(self) -> Status:
        """What the pages show; may be asked from any thread."""
        desk = self._desk
        info = desk.info() if desk.state != "LOADING" else None
        up_s = (self._clock() - self._started_ns) / 1e9
        return status_of(desk.state, info, desk.sessions, desk.counters, desk.history, up_s)

    def start(self, pages: Pages | None = None) -> None:
        """Begin to load the policy, on the inference thread, and to show `pages`."""
        self.pages = pages
        if pages is not None:
            pages.start()
        self._inference.start()

    def turn(self) -> None:
        """Wait at most 100 ms for something, and handle it. Raises what stops the server: a policy that does not
        load, or `EngineError` when an engine call does not come back."""
        self._poller.poll(self._wait_ms())
        for report in self._outbox.collect():
            self._desk.report(report)
        for _ in range(_MESSAGES_A_TURN):
            message = router.receive(self._socket)
            if message is None:
                break
            self._desk.handle(*message, self._clock())
        self._desk.tick(self._clock())
        self._watch_engine()

    def close(self) -> bool:
        """Stop everything; False when the engine was still inside a call after one second and its thread was left."""
        if self.pages is not None:
            self.pages.close()
        self._schedule.close()
        ended = self._inference.join(_JOIN_S)
        _close_socket(self._socket, self._guard)
        if ended:
            self._outbox.close()
        return ended

    def _wait_ms(self) -> int:
        due_ns = self._desk.next_due_ns()
        return _POLL_MS if due_ns is None else min(_POLL_MS, max(0, (due_ns - self._clock()) // 1_000_000 + 1))

    def _watch_engine(self) -> None:
        running = self._inference.running()
        if running is not None and self._clock() - running[1] > self._hang_s * 1e9:
            error = EngineError(
                "engine call",
                expected=f"an answer within {self._hang_s:g} s",
                got="none",
                remedy="restart the server; the engine or its driver hangs",
            )
            self._desk.hung(running[0], error)
            raise error


def open_server(
    load: PolicyLoader, settings: ServeSettings, clock: Callable[[], int] = time.monotonic_ns
) -> PolicyServer:
    """A server that is bound and loads. Raises `ConfigurationError` for an address or keys that cannot be used."""
    endpoint = bind_endpoint(settings.bind, settings.keys is not None, settings.insecure)
    socket = router.router_socket(zmq.Context())
    guard = None
    try:
        guard = secure(socket, settings.keys) if settings.keys is not None else None
        router.bind(socket, endpoint)
    except StackError:
        _close_socket(socket, guard)
        raise
    server = PolicyServer(socket, guard, load, settings.hang_s, clock)
    try:
        pages = _pages(settings, server) if settings.metrics else None
    except StackError:
        _close_socket(socket, guard)
        raise
    server.start(pages)
    return server


def _pages(settings: ServeSettings, server: PolicyServer) -> Pages:
    """The pages; only who asks for them needs prometheus_client."""
    from policy_server.server.pages import open_pages

    return open_pages(settings.metrics or "", server.status, settings.insecure)


def _close_socket(socket: zmq.Socket, guard: ThreadAuthenticator | None) -> None:
    context = socket.context
    socket.close(_LAST_WORDS_MS)
    if guard is not None:
        guard.stop()
    context.destroy(_LAST_WORDS_MS)
