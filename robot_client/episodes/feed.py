"""From the planner to the recorder: whole observations and answers over a bounded ZeroMQ pipe that never waits.

A datagram of `robot_client.channel` is too small for images. Each message is a running number and then the frames of
`contract.codec` or `robot_client.local_codec`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import zmq

from contract import codec
from contract.errors import CodecError
from contract.messages import Welcome
from contract.types import Observation
from contract.wire import Buffer, read_header
from robot_client import local_codec
from robot_client.local_messages import LocalMessage

MOST_MESSAGES: Final = 16
"""On each side; of three 640x480 images that is 45 MB."""
UNCOUNTED: Final = 2**64 - 1
"""Number of what may be lost without harm; the others count up from 0."""
_LINGER_MS: Final = 500
_NUMBER: Final = struct.Struct("<Q")

FeedMessage = LocalMessage | Observation | Welcome


class FeedSender:
    """The planner's end. One thread owns it. `counted=False`: a second sender, whose messages may be lost."""

    def __init__(self, address: str, counted: bool = True) -> None:
        self._address, self._counted = address, counted
        self._socket: zmq.Socket | None = None
        self._number = 0
        self.dropped = 0
        """Messages that the recorder did not take in time; the recorder sees the gap in the numbers."""

    def open(self) -> None:
        """Connect; returns at once, also while there is no recorder."""
        self._socket = zmq.Context.instance().socket(zmq.PUSH)
        self._socket.setsockopt(zmq.SNDHWM, MOST_MESSAGES)
        self._socket.setsockopt(zmq.LINGER, _LINGER_MS)
        self._socket.connect(self._address)

    def send(self, message: FeedMessage) -> bool:
        """Send or drop. The arrays of the message may not change afterwards."""
        if self._socket is None:
            return False
        frames = [_NUMBER.pack(self._number if self._counted else UNCOUNTED), *_encoded(message)]
        self._number += 1
        try:
            self._socket.send_multipart(frames, zmq.DONTWAIT, copy=False)
            return True
        except zmq.Again:
            self.dropped += 1
            return False

    def close(self) -> None:
        """What is on its way has half a second."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class FeedReceiver:
    """The recorder's end."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._socket: zmq.Socket | None = None

    def open(self) -> None:
        """Bind."""
        self._socket = zmq.Context.instance().socket(zmq.PULL)
        self._socket.setsockopt(zmq.RCVHWM, MOST_MESSAGES)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.bind(self._address)

    def fileno(self) -> int:
        """For `select`; edge-triggered, so receive until there is nothing."""
        return -1 if self._socket is None else int(self._socket.getsockopt(zmq.FD))

    def receive(self) -> tuple[int, FeedMessage] | None:
        """Number and message, or None when there is none now. Raises `CodecError` on nonsense."""
        if self._socket is None:
            return None
        try:
            number, *frames = self._socket.recv_multipart(zmq.DONTWAIT)
        except zmq.Again:
            return None
        if len(number) != _NUMBER.size:
            raise CodecError("number of a recorded message", expected=f"{_NUMBER.size} bytes", got=len(number))
        return _NUMBER.unpack(number)[0], _decoded(frames)

    def close(self) -> None:
        """Nothing more is taken."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _encoded(message: FeedMessage) -> list[Buffer]:
    if isinstance(message, Observation | Welcome):
        return codec.encode(message, 0)
    return local_codec.encode(message)


def _decoded(frames: Sequence[Buffer]) -> FeedMessage:
    if not frames or "protocol" not in read_header(frames[0]):
        return local_codec.decode(frames)
    message = codec.decode(frames).message
    if not isinstance(message, Observation | Welcome):
        raise CodecError("recorded message", expected="an observation or a welcome", got=type(message).__name__)
    return message
