"""Who holds which session name. A name belongs to a client process (its instance), not to a connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contract.errors import SessionError
from contract.messages import Hello

MAX_SESSIONS: Final = 32
STALE_NS: Final = 5_000_000_000
"""A session unheard for this long gives its place to a newcomer when the table is full (heartbeats come at 5 Hz)."""


@dataclass(slots=True, eq=False)
class Session:
    """One accepted hello. A new hello under the same name makes a new object, so old work is recognised by identity."""

    name: str
    instance: str
    peer: bytes
    """ROUTER's id of the connection."""
    client: str
    heard_ns: int


class SessionTable:
    """Sessions by name, bounded. Not thread-safe: only the socket thread uses it."""

    def __init__(self, capacity: int = MAX_SESSIONS) -> None:
        self._capacity = capacity
        self._by_name: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._by_name)

    def holder(self, name: str) -> Session | None:
        """Who holds the name now."""
        return self._by_name.get(name)

    def is_current(self, session: Session) -> bool:
        """Whether this very hello still holds its name."""
        return self._by_name.get(session.name) is session

    def of(self, name: str, peer: bytes) -> Session:
        """The session `name` of this connection. Raises `SessionError` when it said no hello or lost the name."""
        session = self._by_name.get(name)
        if session is None or session.peer != peer:
            raise SessionError(
                f"session {name}",
                expected="a hello on this connection first",
                # Not by whom: the instance is what its holder is known by, and whoever says it takes the name over.
                got="no session" if session is None else "held by another connection",
                remedy="say hello; after a restart of the server the client does so by itself",
            )
        return session

    def accept(self, hello: Hello, peer: bytes, now_ns: int) -> Session:
        """Give the name to this hello, whoever held it. Raises `SessionError` when all places have live sessions."""
        if hello.session not in self._by_name and len(self._by_name) >= self._capacity:
            self._evict(now_ns)
        session = Session(hello.session, hello.instance, peer, hello.client, now_ns)
        self._by_name[hello.session] = session
        return session

    def drop(self, session: Session) -> None:
        """Free the name, unless somebody else holds it by now."""
        if self.is_current(session):
            del self._by_name[session.name]

    def _evict(self, now_ns: int) -> None:
        oldest = min(self._by_name.values(), key=lambda session: session.heard_ns)
        if now_ns - oldest.heard_ns < STALE_NS:
            raise SessionError(
                "sessions",
                expected=f"at most {self._capacity}",
                got="one more",
                remedy="stop a client, or start another server",
            )
        del self._by_name[oldest.name]
