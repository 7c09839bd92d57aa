"""A DEALER that may send anything."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import zmq

from contract.bodies import Message
from contract.codec import Envelope, decode, encode
from contract.handshake import contract_hash
from contract.messages import ErrorReply, Hello, Welcome
from contract.wire import Buffer
from tests.waiting import PATIENCE_S


class RawPeer:
    """Sends frames and messages, receives with a deadline."""

    def __init__(self, socket: zmq.Socket) -> None:
        self.socket = socket

    def send(self, frames: Sequence[Buffer]) -> None:
        self.socket.send_multipart(list(frames), copy=False)

    def say(self, message: Message, request_id: int = 1) -> None:
        self.send(encode(message, request_id))

    def hear(self, timeout_s: float = PATIENCE_S) -> Envelope:
        """The next message; TimeoutError when none comes."""
        if not self.socket.poll(int(timeout_s * 1e3)):
            raise TimeoutError(f"nothing in {timeout_s} s")
        return decode(self.socket.recv_multipart())

    def hello(self, session: str = "robot", instance: str = "a" * 16) -> Welcome:
        """Until it is let in; a policy takes its time to load. LookupError when it is refused."""
        until_s, welcome = time.monotonic() + PATIENCE_S, self.greet(session, instance)
        while isinstance(welcome, ErrorReply) and welcome.code == "busy" and time.monotonic() < until_s:
            time.sleep(0.02)
            welcome = self.greet(session, instance)
        if not isinstance(welcome, Welcome):
            raise LookupError(f"not welcome: {welcome}")
        return welcome

    def greet(self, session: str = "robot", instance: str = "a" * 16) -> Message:
        """The answer to one hello."""
        self.say(Hello(session, instance, contract_hash(), "tests"), 1)
        return self.hear().message


@contextmanager
def raw_peer(endpoint: str) -> Iterator[RawPeer]:
    """A connected peer, closed at the end of the block."""
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    try:
        socket.connect(endpoint)
        yield RawPeer(socket)
    finally:
        context.destroy(0)
