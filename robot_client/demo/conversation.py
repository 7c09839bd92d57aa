"""What a run's supervisor says to loop and planner, and what they and the recorder say to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from contract.errors import CodecError
from robot_client import local_codec
from robot_client.channel import Channel
from robot_client.local_messages import LocalMessage, PersonAct, PersonEvent
from robot_client.words import Words

_MOST_MESSAGES: Final = 200
"""Of one channel in one turn."""


class Conversation:
    """`say` prints what could not be read. Empty until `channels` are there; the loop's is the first."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._words = say, Words()
        self.channels: list[Channel] = []

    def messages(self) -> Iterator[LocalMessage]:
        """What came since the last call."""
        for channel in self.channels:
            for _ in range(_MOST_MESSAGES):
                try:
                    message = local_codec.receive(channel)
                except CodecError as error:
                    self._say(str(error))
                    continue
                if message is None:
                    break
                yield message

    def tell(self, act: PersonAct, text: str = "") -> None:
        """Passes a person's act on to the loop."""
        if self.channels:
            self._words.send(self.channels[0], PersonEvent(act, text))

    def close(self) -> None:
        """Nothing more is said or heard."""
        for channel in self.channels:
            channel.close()
