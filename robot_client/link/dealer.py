"""One DEALER socket and what its monitor says about the connection. It never reconnects: its owner opens a new one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import zmq
from zmq.utils.monitor import parse_monitor_message

from contract.curve_keys import use_client_keys
from contract.wire import MAX_ARRAY_BYTES, MAX_ARRAYS, Buffer
from robot_client.link.causes import Cause

_KEPT_FRAMES: Final = MAX_ARRAYS + 2
_QUEUED_MESSAGES: Final = 6
_COPIED_BYTES: Final = 256 * 1024
"""Frames up to this size are copied when they are sent: to be told that a larger one has gone, pyzmq keeps a thread."""
GOODBYE_MS: Final = 100
"""Longest that closing waits for unsent messages."""

_MEANING: Final[dict[int, Cause]] = {
    zmq.EVENT_CONNECTED: "connected",
    zmq.EVENT_HANDSHAKE_SUCCEEDED: "shaken",
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL: "unwelcome",
    zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL: "unwelcome",
    zmq.EVENT_HANDSHAKE_FAILED_AUTH: "unwelcome",
    zmq.EVENT_CLOSED: "refused",
    zmq.EVENT_DISCONNECTED: "lost",
}


class Dealer:
    """Made by `open_dealer`, used by one thread."""

    def __init__(self, socket: zmq.Socket, monitor: zmq.Socket) -> None:
        self._socket, self._monitor = socket, monitor

    def send(self, frames: Sequence[Buffer]) -> bool:
        """Send without copying and without waiting; False when the queue is full or there is no connection.

        Large arrays may not change until they are sent.
        """
        try:
            self._socket.send_multipart(frames, zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return False
        return True

    def receive(self) -> Iterator[list[Buffer]]:
        """Frames of each waiting message; frames beyond the protocol's limit are thrown away. Ends when closed."""
        while not self._socket.closed and int(self._socket.get(zmq.EVENTS)) & zmq.POLLIN:
            frame = self._socket.recv(zmq.NOBLOCK, copy=False)
            frames: list[Buffer] = [frame.buffer]
            while frame.more:
                frame = self._socket.recv(zmq.NOBLOCK, copy=False)
                if len(frames) < _KEPT_FRAMES:
                    frames.append(frame.buffer)
            yield frames

    def events(self) -> Iterator[Cause]:
        """What happened to the connection since the last call."""
        while int(self._monitor.get(zmq.EVENTS)) & zmq.POLLIN:
            message = self._monitor.recv_multipart(zmq.NOBLOCK)
            meaning = _MEANING.get(parse_monitor_message(message)["event"])
            if meaning is not None:
                yield meaning

    def wait(self, timeout_ms: int, wake_on: Sequence[int]) -> None:
        """Return when a message, an event or one of the file descriptors `wake_on` is ready, or after `timeout_ms`."""
        sources: list[Any] = [(source, zmq.POLLIN) for source in (self._socket, self._monitor, *wake_on)]
        zmq.zmq_poll(sources, timeout_ms)

    def close(self, linger_ms: int = 0) -> None:
        """Give up the connection; unsent messages get `linger_ms`."""
        self._socket.disable_monitor()
        self._monitor.close(0)
        self._socket.close(linger_ms)


def open_dealer(context: zmq.Context, address: str, keys: Path | None) -> Dealer:
    """A socket that has begun to connect to `address`."""
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    socket.copy_threshold = _COPIED_BYTES
    socket.immediate = True  # nothing is queued for a server that is not there
    socket.reconnect_ivl = -1
    socket.maxmsgsize = MAX_ARRAY_BYTES
    socket.sndhwm = socket.rcvhwm = _QUEUED_MESSAGES
    socket.ipv6 = "[" in address
    if keys is not None:
        use_client_keys(socket, keys)
    monitor = socket.get_monitor_socket(sum(_MEANING))
    socket.connect(address)
    return Dealer(socket, monitor)
