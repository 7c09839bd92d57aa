"""A TCP proxy that misbehaves on request: delay, drop, freeze, cut. For rehearsing bad networks and for tests."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from contract.errors import LinkError

_CHUNK_BYTES: Final = 1 << 16
_TURN_S: Final = 0.02
_BACKLOG_CHUNKS: Final = 64


@dataclass(slots=True)
class Weather:
    """What happens to bytes; may be changed at any time from any thread."""

    delay_s: float = 0.0
    """Extra time in each direction."""
    frozen: bool = False
    """Nothing passes in either direction, connections stay up, and senders feel it."""
    dropping: bool = False
    """What the server sends is thrown away. Use `cut` afterwards: a stream with a hole is no ZeroMQ any more."""


@dataclass(slots=True, eq=False)
class _Lane:
    """One direction of one connection."""

    source: socket.socket
    sink: socket.socket
    from_server: bool
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)


class TcpProxy:
    """Forwards `address` from a free loopback port of its own; one thread, bounded memory. Made by `tcp_proxy`."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.weather = Weather()
        self.target = target
        """Where new connections lead; may be changed at any time."""
        self._listener: socket.socket | None = None
        self._lanes: list[_Lane] = []
        self._cut = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._main, name="proxy", daemon=True)

    @property
    def address(self) -> str:
        """Where clients connect to."""
        return f"tcp://127.0.0.1:{self._listening().getsockname()[1]}"

    def start(self) -> None:
        """Take a port and begin to forward."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread.start()

    def cut(self) -> None:
        """End every connection; new ones are taken at once."""
        self._cut.set()

    def stop(self) -> None:
        """End everything."""
        self._stop.set()
        self._thread.join(2.0)

    def _main(self) -> None:
        while not self._stop.is_set():
            self._turn()
            if self._cut.is_set():
                self._cut.clear()
                self._drop_all()
        self._drop_all()
        self._listening().close()

    def _listening(self) -> socket.socket:
        if self._listener is None:
            raise LinkError("proxy", expected="one that was started", got="none", remedy="start it first")
        return self._listener

    def _turn(self) -> None:
        readers = {} if self.weather.frozen else {lane.source: lane for lane in self._lanes if _has_room(lane)}
        listener = self._listening()
        ready, _, _ = select.select([listener, *readers], (), (), self._patience_s())
        for source in ready:
            if source is listener:
                self._accept(listener)
            else:
                self._read(readers[source])
        if not self.weather.frozen:
            for lane in list(self._lanes):
                self._write(lane)

    def _patience_s(self) -> float:
        due = [lane.waiting[0][0] for lane in self._lanes if lane.waiting]
        return _TURN_S if self.weather.frozen or not due else min(_TURN_S, max(0.0, min(due) - time.monotonic()))

    def _accept(self, listener: socket.socket) -> None:
        client, _ = listener.accept()
        try:
            server = socket.create_connection(self.target, 1.0)
        except OSError:  # nobody there: the client sees its connection end, as it would without a proxy
            client.close()
            return
        for end in (client, server):
            end.settimeout(1.0)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lanes += [_Lane(client, server, False), _Lane(server, client, True)]

    def _read(self, lane: _Lane) -> None:
        try:
            data = lane.source.recv(_CHUNK_BYTES)
        except OSError:
            data = b""
        if not data:
            self._drop(lane)
        elif not (lane.from_server and self.weather.dropping):
            lane.waiting.append((time.monotonic() + self.weather.delay_s, data))

    def _write(self, lane: _Lane) -> None:
        now_s = time.monotonic()
        while lane.waiting and lane.waiting[0][0] <= now_s:
            try:
                lane.sink.sendall(lane.waiting.popleft()[1])
            except OSError:
                self._drop(lane)
                return

    def _drop(self, lane: _Lane) -> None:
        ends = {lane.source, lane.sink}
        self._lanes = [other for other in self._lanes if other.source not in ends]
        for end in ends:
            end.close()

    def _drop_all(self) -> None:
        while self._lanes:
            self._drop(self._lanes[0])


def _has_room(lane: _Lane) -> bool:
    return len(lane.waiting) < _BACKLOG_CHUNKS


@contextmanager
def tcp_proxy(address: str) -> Iterator[TcpProxy]:
    """A running proxy before `address` (tcp://HOST:PORT), stopped at the end of the block."""
    host, port = address.removeprefix("tcp://").rsplit(":", 1)
    proxy = TcpProxy((host, int(port)))
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
