"""The requests of one link: the newest unsent one, those on their way, and the answers to hand over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from contract.errors import LinkTimeoutError, StackError
from contract.types import Skipped
from robot_client.link.asked import Answer, Asked, Outcome
from robot_client.link.counters import LinkCounters
from robot_client.link.transport import NEVER_NS

WINDOW: Final = 3
"""Observations on their way at once: one in the engine, one waiting for it, one in the network."""


class Requests:
    """Every request that enters leaves as exactly one answer. No sockets in here."""

    def __init__(self, counters: LinkCounters, clock: Callable[[], int]) -> None:
        self._counters, self._clock = counters, clock
        self._unsent: Asked | None = None
        self._in_flight: dict[int, Asked] = {}
        self._answers: list[Answer] = []

    def put(self, asked: Asked) -> None:
        """A new observation; an older one that was not sent yet is answered as skipped."""
        older, self._unsent = self._unsent, asked
        if older is not None:
            self._counters.replaced += 1
            name = older.observation
            self._end(older, Skipped(name.session, name.epoch, name.sequence, "replaced before it was sent"))

    def put_sent(self, asked: Asked) -> None:
        """A request that is on its way already."""
        self._in_flight[asked.request_id] = asked

    def send(self, send: Callable[[Asked], bool]) -> None:
        """Send the newest observation if the window has room and `send` takes it."""
        asked = self._unsent
        if asked is not None and len(self._in_flight) < WINDOW and send(asked):
            self._unsent = None
            self._in_flight[asked.request_id] = asked

    def take(self, request_id: int) -> Asked | None:
        """The request that an arriving reply ends; None for one that was given up or never made."""
        return self._in_flight.pop(request_id, None)

    def end(self, asked: Asked, outcome: Outcome, received_ns: int = 0) -> None:
        """Hand over the outcome of a request that was taken; `received_ns`: when its reply was here, undecoded."""
        self._end(asked, outcome, received_ns)

    def end_overdue(self, state: str) -> None:
        """Give up what has waited too long; its reply will be a late one."""
        now_ns = self._clock()
        for asked in self._waiting():
            if now_ns >= asked.due_ns:
                self._counters.timed_out += 1
                self._forget(asked)
                self._end(asked, _overdue(asked, state))

    def end_all(self, error: StackError) -> None:
        """No reply can come any more."""
        for asked in self._waiting():
            self._forget(asked)
            self._end(asked, error)

    def answers(self) -> list[Answer]:
        """What ended since the last call, in that order."""
        answers, self._answers = self._answers, []
        return answers

    @property
    def answered(self) -> bool:
        """Whether `answers` would give anything."""
        return bool(self._answers)

    def next_due_ns(self) -> int:
        """When `end_overdue` has something to do."""
        return min((asked.due_ns for asked in self._waiting()), default=NEVER_NS)

    def _waiting(self) -> list[Asked]:
        return [*self._in_flight.values(), *([self._unsent] if self._unsent else [])]

    def _forget(self, asked: Asked) -> None:
        self._in_flight.pop(asked.request_id, None)
        if self._unsent is asked:
            self._unsent = None

    def _end(self, asked: Asked, outcome: Outcome, received_ns: int = 0) -> None:
        if isinstance(outcome, StackError):
            self._counters.failed += not isinstance(outcome, LinkTimeoutError)
        elif isinstance(outcome, Skipped):
            self._counters.skipped += 1
        else:
            self._counters.answered += 1
        self._answers.append(Answer(asked, outcome, self._clock(), received_ns))


def _overdue(asked: Asked, state: str) -> LinkTimeoutError:
    return LinkTimeoutError(
        f"answer to sequence {asked.observation.sequence}",
        expected=f"within {(asked.due_ns - asked.asked_ns) / 1e6:g} ms",
        got=f"none, link {state}",
        remedy="the link stays usable; a late answer is thrown away",
    )
