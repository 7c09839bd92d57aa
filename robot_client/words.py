"""A person's words on their way to the loop: a stop must not be lost because the loop has not read for a long time."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Final

from robot_client import local_codec
from robot_client.channel import Channel
from robot_client.local_messages import PersonEvent

_SIGN_OF_LIFE: Final = "alive"
_MOST: Final = 100
"""Words that wait for room; older ones are given up first, so that the newest stop stays."""


class Words:
    """What finds no room in the channel waits here, in its order, for the next call; a sign of life does not.

    Any thread may send: under ROS a hold comes by a thread of its own.
    """

    def __init__(self) -> None:
        self._turn = Lock()
        self._waiting: deque[PersonEvent] = deque(maxlen=_MOST)

    def send(self, channel: Channel, event: PersonEvent) -> None:
        """Pass on what waits, then this. Signs of life come often enough to be the next call."""
        with self._turn:  # nothing in here waits
            if event.act != _SIGN_OF_LIFE:
                self._waiting.append(event)
            while self._waiting and local_codec.send(channel, self._waiting[0]):
                self._waiting.popleft()
            if event.act == _SIGN_OF_LIFE and not self._waiting:
                local_codec.send(channel, event)
