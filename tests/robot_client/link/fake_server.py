"""A ROUTER on a thread that answers as a test wants, right or wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import zmq

from contract.bodies import Message
from contract.codec import decode, encode
from contract.messages import Hello, Ping, Pong, Welcome
from contract.server_info import ServerInfo
from contract.wire import Buffer

Send = Callable[[Sequence[Buffer]], None]
Behaviour = Callable[[Message, int, Send], bool]
"""(message, request id, send to its peer) -> whether it was dealt with; else hello and ping are answered normally."""


class FakeServer:
    """Counts what it got; `endpoint` is where."""

    def __init__(self, info: ServerInfo, behaviour: Behaviour, endpoint: str) -> None:
        self._info, self._behaviour = info, behaviour
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.linger = self._socket.sndhwm = 0
        self._socket.bind(endpoint)
        self.endpoint = self._socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0")
        self.got: list[Message] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._main, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(30)
        self._context.destroy(0)

    def _main(self) -> None:
        while not self._stop.is_set():
            if self._socket.poll(20):
                peer, *frames = self._socket.recv_multipart()
                envelope = decode(frames)
                self.got.append(envelope.message)
                self._answer(peer, envelope.message, envelope.request_id)

    def _answer(self, peer: bytes, message: Message, request_id: int) -> None:
        def send(frames: Sequence[Buffer]) -> None:
            self._socket.send_multipart([peer, *frames])

        if self._behaviour(message, request_id, send):
            return
        if isinstance(message, Hello):
            send(encode(Welcome(self._info), request_id))
        elif isinstance(message, Ping):
            send(encode(Pong(message.sequence, "READY"), request_id))


@contextmanager
def fake_server(
    info: ServerInfo,
    behaviour: Behaviour = lambda message, request_id, send: False,
    endpoint: str = "tcp://127.0.0.1:*",
) -> Iterator[FakeServer]:
    """A running fake, stopped at the end of the block."""
    server = FakeServer(info, behaviour, endpoint)
    server.start()
    try:
        yield server
    finally:
        server.stop()
