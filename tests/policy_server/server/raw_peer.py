"""A DEALER that may send anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import zmq

from contract.bodies import Message
from contract.codec import Envelope, decode, encode
from contract.handshake import contract_hash
from contract.messages import Hello, Welcome
from contract.wire import Buffer


class RawPeer:
    """Sends frames and messages, receives with a deadline."""

    def __init__(self, socket: zmq.Socket) -> None:
        self.socket = socket

    def send(self, frames: Sequence[Buffer]) -> None:
        self.socket.send_multipart(list(frames), copy=False)

    def say(self, message: Message, request_id: int = 1) -> None:
        self.send(encode(message, request_id))

    def hear(self, timeout_s: float = 5.0) -> Envelope:
        """The next message; TimeoutError when none comes."""
        if not self.socket.poll(int(timeout_s * 1e3)):
            raise TimeoutError(f"nothing in {timeout_s} s")
        return decode(self.socket.recv_multipart())

    def hello(self, session: str = "robot", instance: str = "a" * 16) -> Welcome:
        self.say(Hello(session, instance, contract_hash(), "tests"), 1)
        welcome = self.hear().message
        if not isinstance(welcome, Welcome):
            raise LookupError(f"not welcome: {welcome}")
        return welcome


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
