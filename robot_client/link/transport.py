"""Keeps one DEALER connected to one address: a lost one is replaced after a growing pause, and the cause is kept."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import zmq

from contract.wire import Buffer
from robot_client.link.backoff import Backoff
from robot_client.link.causes import Cause
from robot_client.link.dealer import GOODBYE_MS, Dealer, open_dealer

NEVER_NS: Final = 2**63


class Transport:
    """Frames in and out. One thread uses it, and nothing waits but `wait`."""

    def __init__(self, address: str, keys: Path | None, clock: Callable[[], int]) -> None:
        self.cause: Cause = "none"
        """What happened last on the way to a session."""
        self.opened_ns = 0
        """When the present socket began to connect."""
        self._address, self._keys, self._clock = address, keys, clock
        self._backoff = Backoff()
        self._context: zmq.Context | None = None
        self._dealer: Dealer | None = None
        self._retry_ns = NEVER_NS

    def open(self) -> None:
        """Begin to connect at once."""
        if self._context is None:
            self._context = zmq.Context()
        self.drop("none")
        self._retry_ns = self._clock()

    def close(self, last_words: Sequence[Buffer] | None) -> None:
        """Send a last message, if there is one, and give everything back within `GOODBYE_MS`."""
        if self._dealer is not None:
            if last_words is not None:
                self._dealer.send(last_words)
            self._dealer.close(GOODBYE_MS)
            self._dealer = None
        if self._context is not None:
            self._context.term()
            self._context = None
        self._retry_ns = NEVER_NS

    def rest(self) -> None:
        """Give up the socket and stay without one until `open`."""
        self.drop("none")
        self._retry_ns = NEVER_NS

    def drop(self, cause: Cause) -> None:
        """Give up the socket; the next one is opened after a pause."""
        self.cause = cause
        self._retry_ns = self._clock() + self._backoff.pause_ns()
        if self._dealer is not None:
            self._dealer.close()
            self._dealer = None

    def settled(self) -> None:
        """The connection works; the next loss starts with a short pause again."""
        self._backoff.reset()

    @property
    def has_socket(self) -> bool:
        """Whether there is a socket now, connected or not."""
        return self._dealer is not None

    def send(self, frames: Sequence[Buffer]) -> bool:
        """Send at once; False when it cannot be now."""
        return self._dealer is not None and self._dealer.send(frames)

    def receive(self) -> Iterator[list[Buffer]]:
        """Frames of each waiting message."""
        if self._dealer is not None:
            yield from self._dealer.receive()

    def follow(self, now_ns: int) -> list[Cause]:
        """What happened since the last call; opens a socket when its time has come."""
        if self._dealer is None:
            if now_ns >= self._retry_ns and self._context is not None:
                self._dealer, self.opened_ns = open_dealer(self._context, self._address, self._keys), now_ns
            return []
        happened: list[Cause] = []
        for event in self._dealer.events():
            happened.append(event)
            self.cause = event
            if event not in ("connected", "shaken"):
                self.drop(event)
                break
        return happened

    def wait(self, until_ns: int, wake_on: Sequence[int]) -> None:
        """Return when a message or an event is there, when one of `wake_on` is readable, or at `until_ns`."""
        due_ns = until_ns if self._dealer is not None else min(until_ns, self._retry_ns)
        timeout_ms = max(0, -(-(due_ns - self._clock()) // 1_000_000))
        if self._dealer is not None:
            self._dealer.wait(timeout_ms, wake_on)
        else:
            select.select(wake_on, (), (), timeout_ms / 1e3)
