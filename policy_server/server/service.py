"""The server as a whole: the socket thread's loop around desk, outbox and inference."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import zmq

from contract.errors import ConfigurationError, EngineError, StackError
from contract.server_info import ServerInfo, ServerState
from policy_server.server import router
from policy_server.server.counters import Counters
from policy_server.server.desk import Desk
from policy_server.server.door import Door, open_door
from policy_server.server.inference import Inference
from policy_server.server.outbox import Outbox, open_outbox
from policy_server.server.schedule import Schedule
from policy_server.server.served_policy import PolicyLoader
from policy_server.server.settings import ServeSettings
from policy_server.server.status import Status, status_of

if TYPE_CHECKING:
    from policy_server.server.pages import Pages

_POLL_MS: Final = 100
_MESSAGES_A_TURN: Final = 64
_JOIN_S: Final = 1.0


class PolicyServer:
    """One policy on one endpoint. Made by `open_server`; `turn` until told otherwise, then `close`, from one thread."""

    def __init__(
        self,
        door: Door,
        outbox: Outbox,
        load: PolicyLoader,
        hang_s: float,
        clock: Callable[[], int],
    ) -> None:
        self._door, self._outbox, self._hang_s, self._clock = door, outbox, hang_s, clock
        self._schedule = Schedule()
        self._desk = Desk(lambda peer, frames: router.send(door.socket, peer, frames), self._schedule)
        self._inference = Inference(load, self._schedule, outbox, clock)
        self._started_ns = 0
        self.pages: Pages | None = None
        self._poller = zmq.Poller()

    @property
    def endpoint(self) -> str:
        """Where it listens, with the real port."""
        return self._door.socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0")

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
        self._started_ns = self._clock()
        self._poller.register(self._door.socket, zmq.POLLIN)
        self._poller.register(self._outbox.fileno(), zmq.POLLIN)
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
            message = router.receive(self._door.socket)
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
        self._door.close()
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
    if not settings.hang_s > 0.0:
        raise ConfigurationError("--hang-s", expected="more than 0", got=settings.hang_s, remedy="30 is usual")
    server = PolicyServer(open_door(settings), open_outbox(), load, settings.hang_s, clock)
    try:
        pages = _pages(settings, server) if settings.metrics else None
    except StackError:
        server.close()
        raise
    server.start(pages)
    return server


def _pages(settings: ServeSettings, server: PolicyServer) -> Pages:
    """The pages; only who asks for them needs prometheus_client."""
    from policy_server.server.pages import open_pages

    return open_pages(settings.metrics or "", server.status, settings.insecure)
