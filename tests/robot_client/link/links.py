"""Links for tests: open one, collect its answers, find a free port."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from robot_client.link.asked import Answer
from robot_client.link.budgets import Budgets
from robot_client.link.policy_link import PolicyLink
from tests.contract.messages_of_all_kinds import ROLES

QUICK = Budgets(connect_ms=5000, reply_ms=3000, silent_ms=300, heartbeat_ms=50)


def free_port() -> int:
    """A port where nothing listens, for now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def link_to(endpoint: str, session: str = "robot", budgets: Budgets = QUICK, **more: Any) -> Iterator[PolicyLink]:
    """A link that is closed at the end of the block; not connected yet."""
    link = PolicyLink(endpoint, session, frozenset(ROLES), budgets, **more)
    try:
        yield link
    finally:
        link.close()


def poll_until(link: PolicyLink, done: Callable[[list[Answer]], bool], timeout_s: float = 10.0) -> list[Answer]:
    """All answers until `done` says so. Raises TimeoutError."""
    answers: list[Answer] = []
    until_s = time.monotonic() + timeout_s
    while not done(answers):
        if time.monotonic() > until_s:
            raise TimeoutError(f"state {link.state}, {link.counters}, answers {[a.outcome for a in answers]}")
        answers += link.poll(0.02)
    return answers
