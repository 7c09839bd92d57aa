"""The server as a whole: the socket thread's loop around desk, outbox and inference."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import zmq
from zmq.auth.thread import ThreadAuthenticator

from contract.errors import EngineError
from contract.server_info import ServerInfo, ServerState
from policy_server.server import router
from policy_server.server.bind import DEFAULT_BIND, bind_endpoint
from policy_server.server.counters import Counters
from policy_server.server.desk import Desk
from policy_server.server.inference import Inference
from policy_server.server.keys import secure
from policy_server.server.outbox import Outbox, open_outbox
from policy_server.server.schedule import Schedule
from policy_server.server.served_policy import PolicyLoader

_POLL_MS: Final = 100
_MESSAGES_A_TURN: Final = 64
_JOIN_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """How to serve. `hang_s`: longest replan, or pass of an imagination, before the server gives itself up."""

    bind: str = DEFAULT_BIND
    insecure: bool = False
    keys: Path | None = None
    hang_s: float = 30.0


class PolicyServer:
    """One policy on one endpoint. `open`, then `turn` until told otherwise, then `close`, all from one thread."""

    def __init__(
        self, load: PolicyLoader, settings: ServeSettings, clock: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._load, self._settings, self._clock = load, settings, clock
        self._schedule = Schedule()
        self._context: zmq.Context | None = None
        self._guard: ThreadAuthenticator | None = None

    def open(self) -> str:
        """Bind, begin loading, and return the endpoint with its real port. Raises `ConfigurationError`."""
        settings = self._settings
        endpoint = bind_endpoint(settings.bind, settings.keys is not None, settings.insecure)
        self._context = zmq.Context()
        self._socket = router.router_socket(self._context)
        if settings.keys is not None:
            self._guard = secure(self._socket, settings.keys)
        bound = router.bind(self._socket, endpoint)
        self._outbox: Outbox = open_outbox()
        self._desk = Desk(lambda peer, frames: router.send(self._socket, peer, frames), self._schedule)
        self._inference = Inference(self._load, self._schedule, self._outbox, self._clock)
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._outbox.fileno(), zmq.POLLIN)
        self._inference.start()
        return bound

    @property
    def state(self) -> ServerState:
        """LOADING, READY or FAULT."""
        return self._desk.state

    def info(self) -> ServerInfo:
        """What clients are told. Raises `BusyError` while the policy loads."""
        return self._desk.info()

    @property
    def counters(self) -> Counters:
        """What was done since start."""
        return self._desk.counters

    @property
    def wakeup_descriptor(self) -> int:
        """Writing a byte here ends the wait of `turn`; fit for `signal.set_wakeup_fd`."""
        return self._outbox.ring_descriptor

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
        self._schedule.close()
        if self._context is None:
            return True
        ended = self._inference.join(_JOIN_S)
        self._socket.close(0)
        if self._guard is not None:
            self._guard.stop()
        self._context.destroy(0)
        if ended:
            self._outbox.close()
        return ended

    def _wait_ms(self) -> int:
        due_ns = self._desk.next_due_ns()
        return _POLL_MS if due_ns is None else min(_POLL_MS, max(0, (due_ns - self._clock()) // 1_000_000 + 1))

    def _watch_engine(self) -> None:
        running = self._inference.running()
        if running is None:
            return
        job, since_ns = running
        if self._clock() - since_ns > self._settings.hang_s * 1e9:
            error = EngineError(
                "engine call",
                expected=f"an answer within {self._settings.hang_s:.0f} s",
                got="none",
                remedy="restart the server; the engine or its driver hangs",
            )
            self._desk.hung(job, error)
            raise error
