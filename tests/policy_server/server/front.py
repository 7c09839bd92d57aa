"""A desk without a socket: what it sends is collected, time is a number, and the engine is whoever calls `report`."""

from __future__ import annotations

from collections.abc import Sequence

from contract.bodies import Message
from contract.codec import decode, encode
from contract.handshake import contract_hash
from contract.messages import Hello
from contract.server_info import ServerInfo
from contract.wire import Buffer
from policy_server.server.desk import Desk
from policy_server.server.reports import Loaded
from policy_server.server.schedule import Job, Schedule
from tests.contract.messages_of_all_kinds import server_info

ALICE, BOB = "a" * 16, "b" * 16


class Front:
    """Peers are bytes; `gone` holds those that nothing reaches any more."""

    def __init__(self, loaded: ServerInfo | None = None) -> None:
        self.now_ns = 0
        self.gone: set[bytes] = set()
        self.schedule = Schedule()
        self.desk = Desk(self._send, self.schedule)
        self._sent: list[tuple[bytes, int, Message]] = []
        if loaded is not None:
            self.desk.report(Loaded(loaded))

    def _send(self, peer: bytes, frames: Sequence[Buffer]) -> bool:
        if peer in self.gone:
            return False
        envelope = decode([bytes(frame) for frame in frames])
        self._sent.append((peer, envelope.request_id, envelope.message))
        return True

    def say(self, peer: bytes, message: Message, request_id: int = 1) -> None:
        """A message arrives."""
        self.desk.handle(peer, [bytes(frame) for frame in encode(message, request_id)], self.now_ns)

    def hello(self, peer: bytes, instance: str = ALICE, session: str = "robot", request_id: int = 1) -> None:
        """A good hello arrives."""
        self.say(peer, Hello(session, instance, contract_hash(), "tests"), request_id)

    def heard(self) -> list[tuple[bytes, int, Message]]:
        """What was sent since the last call."""
        sent, self._sent = self._sent, []
        return sent

    def pass_ms(self, milliseconds: float) -> None:
        """Time passes."""
        self.now_ns += int(milliseconds * 1e6)
        self.desk.tick(self.now_ns)

    def next_job(self) -> Job:
        """What the engine would take now."""
        job = self.schedule.take(0.0)
        if job is None:
            raise LookupError("nothing waits")
        return job


def ready_front() -> Front:
    """A desk with a loaded policy."""
    return Front(server_info())
