"""Newcomers that want a live session's name, while its holder is being asked whether it is alive (case B03)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contract.messages import Hello
from policy_server.server.sessions import Session

PROBE_NS: Final = 300_000_000
"""Time the holder has to answer."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One newcomer waiting for the verdict."""

    hello: Hello
    peer: bytes
    request_id: int
    holder: Session
    due_ns: int


class Claims:
    """At most one claim for a name. Not thread-safe: only the socket thread uses it."""

    def __init__(self) -> None:
        self._by_name: dict[str, Claim] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def repeats(self, hello: Hello, peer: bytes) -> bool:
        """Whether this very newcomer is waiting already."""
        claim = self._by_name.get(hello.session)
        return claim is not None and (claim.hello.instance, claim.peer) == (hello.instance, peer)

    def open(self, claim: Claim) -> None:
        """Start waiting for the holder's answer."""
        self._by_name[claim.hello.session] = claim

    def answered(self, holder: Session) -> Claim | None:
        """The claim that the holder's answer ends, if there is one."""
        claim = self._by_name.get(holder.name)
        if claim is None or claim.holder is not holder:
            return None
        return self._by_name.pop(holder.name)

    def due(self, now_ns: int) -> list[Claim]:
        """Claims whose holder stayed silent; they win."""
        won = [claim for claim in self._by_name.values() if claim.due_ns <= now_ns]
        for claim in won:
            del self._by_name[claim.hello.session]
        return won

    def next_due_ns(self) -> int | None:
        """When the next claim falls due."""
        return min((claim.due_ns for claim in self._by_name.values()), default=None)
