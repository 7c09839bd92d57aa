"""A guest of a running server: says hello, asks one thing at a time, leaves. For the command line, not for robots."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import zmq

from contract.bodies import Message
from contract.codec import decode, encode
from contract.curve_keys import use_client_keys
from contract.errors import ConfigurationError, LinkError, LinkTimeoutError, from_wire
from contract.handshake import contract_hash, require_same_contract
from contract.messages import ErrorReply, Goodbye, Hello, Welcome
from contract.server_info import ServerInfo
from contract.wire import MAX_ARRAY_BYTES

_LOADING_PAUSE_S: Final = 0.2


class Visitor:
    """One session that lives as long as a `with visit(...)` block."""

    def __init__(self, socket: zmq.Socket, address: str, session: str = "") -> None:
        self._socket, self._address = socket, address
        self._last_id = 0
        self.session = session or f"visitor-{os.getpid()}"
        self.info: ServerInfo

    def enter(self, timeout_s: float) -> None:
        """Say hello until the server has loaded its policy. Raises what it answers, `LinkTimeoutError` on silence."""
        hello = Hello(self.session, secrets.token_hex(8), contract_hash(), "yam-policy")
        until_s = time.monotonic() + timeout_s
        reply = self.ask(hello, timeout_s)
        while isinstance(reply, ErrorReply) and reply.code == "busy" and time.monotonic() < until_s:
            time.sleep(_LOADING_PAUSE_S)
            reply = self.ask(hello, timeout_s)
        if isinstance(reply, ErrorReply):
            raise from_wire(reply.code, reply.what, reply.expected, reply.got, reply.remedy)
        if not isinstance(reply, Welcome):
            got = type(reply).__name__
            raise LinkError(f"hello to {self._address}", expected="a welcome", got=got, remedy="is it a policy server?")
        require_same_contract(reply.info.contract_hash, self._address)
        self.info = reply.info

    def ask(self, question: Message, timeout_s: float) -> Message:
        """The answer to a question, whatever it is. Raises `LinkTimeoutError` when none comes in time."""
        self._last_id += 1
        self._socket.send_multipart(encode(question, self._last_id), copy=False)
        until_s = time.monotonic() + timeout_s
        while self._socket.poll(max(0, int(1e3 * (until_s - time.monotonic())))):
            envelope = decode(self._socket.recv_multipart())
            if envelope.request_id == self._last_id:
                return envelope.message
        raise LinkTimeoutError(
            f"policy server at {self._address}",
            expected=f"an answer within {timeout_s:g} s",
            got="none",
            remedy="start it with `yam-policy serve`, correct the address, or give the --keys that it asks for",
        )

    def tell(self, question: Message) -> None:
        """Send a question and wait for nothing; whatever was answered before is taken and forgotten."""
        while self._socket.poll(0):
            self._socket.recv_multipart(copy=False)
        self._last_id += 1
        self._socket.send_multipart(encode(question, self._last_id), copy=False)

    def leave(self) -> None:
        """Free the session name."""
        self._socket.send_multipart(encode(Goodbye(self.session), self._last_id + 1), zmq.NOBLOCK)


@contextmanager
def visit(address: str, timeout_s: float, keys: Path | None = None, session: str = "") -> Iterator[Visitor]:
    """A visitor that has been welcomed; its session is named after this process unless given.

    Raises `ConfigurationError` for what is no address or no folder of keys, `LinkTimeoutError` on silence, or what the
    server answers.
    """
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.linger, socket.maxmsgsize = 200, MAX_ARRAY_BYTES
    try:
        if keys is not None:
            use_client_keys(socket, keys)
        _connect(socket, address)
        guest = Visitor(socket, address, session)
        guest.enter(timeout_s)
        yield guest
        guest.leave()
    finally:
        context.destroy(200)


def _connect(socket: zmq.Socket, address: str) -> None:
    try:
        socket.connect(address)
    except zmq.ZMQError as error:
        raise ConfigurationError(
            "--server", expected="tcp://HOST:PORT", got=f"{address}: {error}", remedy="for example tcp://127.0.0.1:5555"
        ) from error
