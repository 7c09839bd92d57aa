"""Links for tests: open one, collect its answers, push its clock, find a free port."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from robot_client.link.asked import Answer
from robot_client.link.budgets import Budgets
from robot_client.link.policy_link import PolicyLink
from tests.contract.messages_of_all_kinds import ROLES
from tests.waiting import PATIENCE_S

PATIENT: Final = Budgets(connect_ms=60_000, reply_ms=60_000, silent_ms=200_000, heartbeat_ms=50)
"""A machine that stands still for seconds is no silence; who tests silence pushes the clock."""
_PORTS: Final = range(20_000, 32_000)
"""Below those that the kernel gives to whoever asks for any, so that no other test is given one of these."""


def free_port() -> int:
    """A port where nothing listens, for now."""
    for port in random.SystemRandom().sample(_PORTS, 100):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise LookupError("no free port")


class PushedClock:
    """The machine's clock, which a test may push ahead."""

    def __init__(self) -> None:
        self._ahead_ns = 0

    def push(self, seconds: float) -> None:
        """So much time passes at once."""
        self._ahead_ns += int(seconds * 1e9)

    def __call__(self) -> int:
        return time.monotonic_ns() + self._ahead_ns


@contextmanager
def link_to(endpoint: str, session: str = "robot", budgets: Budgets = PATIENT, **more: Any) -> Iterator[PolicyLink]:
    """A link that is closed at the end of the block; not connected yet."""
    link = PolicyLink(endpoint, session, frozenset(ROLES), budgets, **more)
    try:
        yield link
    finally:
        link.close()


def poll_until(link: PolicyLink, done: Callable[[list[Answer]], bool], timeout_s: float = PATIENCE_S) -> list[Answer]:
    """All answers until `done` says so. Raises TimeoutError."""
    answers: list[Answer] = []
    until_s = time.monotonic() + timeout_s
    while not done(answers):
        if time.monotonic() > until_s:
            raise TimeoutError(f"state {link.state}, {link.counters}, answers {[a.outcome for a in answers]}")
        answers += link.poll(0.02)
    return answers
