"""Who may have which session name: hello, probe, take-over, goodbye (case B03)."""

from __future__ import annotations

import logging
from collections.abc import Callable

from contract.errors import SessionError
from contract.handshake import require_same_contract
from contract.messages import Hello, Probe, ProbeAnswer, Welcome
from contract.server_info import ServerInfo
from policy_server.server.claims import PROBE_NS, Claim, Claims
from policy_server.server.counters import Counters
from policy_server.server.log_lines import Seldom, log_line
from policy_server.server.replies import UNASKED, Replies
from policy_server.server.schedule import Schedule
from policy_server.server.sessions import Session, SessionTable

_log = logging.getLogger("policy_server.server")


class Doorman:
    """Admits clients. `info` gives the present ServerInfo or raises `BusyError` while there is none."""

    def __init__(
        self,
        sessions: SessionTable,
        schedule: Schedule,
        replies: Replies,
        counters: Counters,
        info: Callable[[], ServerInfo],
    ) -> None:
        self._sessions, self._schedule, self._replies, self._counters = sessions, schedule, replies, counters
        self._info = info
        self._claims = Claims()
        self._seldom = Seldom()

    def hello(self, peer: bytes, request_id: int, hello: Hello, now_ns: int) -> None:
        """Admit at once, or ask the holder of the name first. Raises `VersionError`, `BusyError`, `SessionError`."""
        require_same_contract(hello.contract_hash, f"client {printable(hello.client)}")
        self._info()
        holder = self._sessions.holder(hello.session)
        if holder is None or holder.instance == hello.instance:
            self._admit(peer, request_id, hello, now_ns)
        elif self._claims.repeats(hello, peer):
            return  # the verdict on its first hello is under way
        elif hello.session in self._claims:
            raise _taken(holder)
        elif self._replies.reply(holder.peer, UNASKED, Probe(hello.session)):
            self._claims.open(Claim(hello, peer, request_id, holder, now_ns + PROBE_NS))
        else:
            self._admit(peer, request_id, hello, now_ns)

    def probe_answer(self, peer: bytes, answer: ProbeAnswer, now_ns: int) -> None:
        """The holder lives: whoever wanted its name is refused."""
        holder = self._sessions.of(answer.session, peer)
        holder.heard_ns = now_ns
        claim = self._claims.answered(holder) if answer.instance == holder.instance else None
        if claim is not None:
            self._replies.refuse(claim.peer, claim.request_id, _taken(holder))

    def tick(self, now_ns: int) -> None:
        """Give names whose holder stayed silent to the newcomers that asked for them."""
        for claim in self._claims.due(now_ns):
            current = self._sessions.holder(claim.hello.session)
            try:
                if current is not None and current is not claim.holder:
                    raise _taken(current)
                self._admit(claim.peer, claim.request_id, claim.hello, now_ns)
            except SessionError as error:
                self._replies.refuse(claim.peer, claim.request_id, error)

    def next_due_ns(self) -> int | None:
        """When `tick` has something to do."""
        return self._claims.next_due_ns()

    def leave(self, session: Session) -> None:
        """Free the name of a client that says goodbye."""
        self._sessions.drop(session)
        self._counters.orphaned += self._schedule.drop(session)
        _log.info(log_line("session_left", session=session.name))

    def _admit(self, peer: bytes, request_id: int, hello: Hello, now_ns: int) -> None:
        before = self._sessions.holder(hello.session)
        session = self._sessions.accept(hello, peer, now_ns)
        if before is not None:
            self._counters.orphaned += self._schedule.drop(before)
        event = "session_taken_over" if before is not None and before.instance != hello.instance else "session_joined"
        times = self._seldom.count(f"{event} {session.name}")
        if times is not None:
            _log.info(log_line(event, session=session.name, client=printable(hello.client), times=times))
        self._replies.reply(peer, request_id, Welcome(self._info()))


def printable(client: str) -> str:
    """What a client calls itself, fit for a terminal: 64 printable characters at most."""
    return "".join(one if one.isprintable() else "?" for one in client[:64])


def _taken(holder: Session) -> SessionError:
    return SessionError(
        f"session name {holder.name}",
        expected="a name that no live client holds",
        # Its program may be told, its instance may not: whoever says that in a hello takes the name over.
        got=f"held by {printable(holder.client)}, which answers",
        remedy="stop that client or choose another session name",
    )
