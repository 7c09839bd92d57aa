"""A policy server for the time of a replay: somebody's, or one of our own as a subprocess."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contract.server_info import ServerInfo
from contract.types import Observation
from robot_client.demo.children import start_child
from robot_client.link.budgets import Budgets
from robot_client.link.policy_link import PolicyLink

SESSION: Final = "replay"
_START_S: Final = 60.0
_END_S: Final = 2.0
_SILENT_MS: Final = 60_000.0
"""Nothing moves meanwhile: a server that has no processor for a while is waited for."""


@contextmanager
def serving(server: str, bundle: Path | None, threads: int, logs: Path) -> Iterator[str]:
    """Address of `server`, or of a server of `bundle` that ends with the block."""
    if bundle is None:
        yield server
        return
    logs.mkdir(parents=True, exist_ok=True)
    args = ["policy_server", "serve", "--bundle", str(bundle), "--bind", "tcp://127.0.0.1:0"]
    child = start_child("policy_server", [*args, "--threads", str(threads), "--stop-with-stdin"], logs, eof=True)
    try:
        yield child.wait_for_line("READY ", _START_S).split()[1]
    finally:
        child.end(_END_S)


@contextmanager
def linked(address: str, roles: frozenset[str], keys: Path | None = None) -> Iterator[tuple[PolicyLink, ServerInfo]]:
    """A session that is READY, and what the server says of itself. Raises what keeps it from being so."""
    link = PolicyLink(address, SESSION, roles, Budgets(silent_ms=_SILENT_MS), keys)
    try:
        yield link, link.connect(budget_ms=10_000.0)
    finally:
        link.close()


def roles_of(observation: Observation) -> frozenset[str]:
    """Camera roles that an observation has."""
    return frozenset(observation.images)
