"""The ROUTER socket: options, bounded receive, send that never waits."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import Final

import zmq

from contract.errors import ConfigurationError
from contract.wire import MAX_ARRAY_BYTES, MAX_ARRAYS, Buffer

_KEPT_FRAMES: Final = MAX_ARRAYS + 2
"""One frame more than any message may have, so that a longer one is refused by the codec."""
_MESSAGES_PER_PEER: Final = 8


def router_socket(context: zmq.Context) -> zmq.Socket:
    """An unbound ROUTER with every queue and size bounded."""
    socket = context.socket(zmq.ROUTER)
    socket.router_mandatory = True  # a gone peer is an error at once, not a black hole
    socket.maxmsgsize = MAX_ARRAY_BYTES
    socket.rcvhwm = socket.sndhwm = _MESSAGES_PER_PEER
    socket.linger = 0
    socket.heartbeat_ivl, socket.heartbeat_timeout, socket.heartbeat_ttl = 1000, 3000, 3000
    return socket


def bind(socket: zmq.Socket, endpoint: str) -> None:
    """Listen. Raises `ConfigurationError` when the address is in use or not of this machine."""
    socket.ipv6 = "[" in endpoint
    try:
        socket.bind(endpoint)
    except zmq.ZMQError as error:
        raise ConfigurationError(
            "--bind",
            expected="a free address of this machine",
            got=f"{endpoint}: {error}",
            remedy="choose another port",
        ) from error


def receive(socket: zmq.Socket) -> tuple[bytes, list[Buffer]] | None:
    """Peer and frames of one waiting message, None when there is none. Frames beyond the limit are thrown away."""
    if not int(socket.get(zmq.EVENTS)) & zmq.POLLIN:
        return None
    frame = socket.recv(zmq.NOBLOCK, copy=False)
    peer, frames = frame.bytes, list[Buffer]()
    while frame.more:
        frame = socket.recv(zmq.NOBLOCK, copy=False)
        if len(frames) < _KEPT_FRAMES:
            frames.append(frame.buffer)
    return peer, frames


def send(socket: zmq.Socket, peer: bytes, frames: Sequence[Buffer]) -> bool:
    """Send at once; False when the peer is gone or its queue is full."""
    try:
        socket.send_multipart([peer, *frames], zmq.NOBLOCK, copy=False)
    except zmq.Again:
        return False
    except zmq.ZMQError as error:
        if error.errno == errno.EHOSTUNREACH:
            return False
        raise
    return True
