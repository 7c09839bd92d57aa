"""Everything the server says on its own account: errors, skips, and the counting of what could not be delivered."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from contract.bodies import Message
from contract.codec import encode
from contract.errors import StackError, to_wire
from contract.messages import ErrorReply
from contract.types import Skipped
from contract.wire import Buffer
from policy_server.server.counters import Counters
from policy_server.server.log_lines import Seldom, log_line
from policy_server.server.schedule import Job

Send: TypeAlias = Callable[[bytes, Sequence[Buffer]], bool]
"""Sends frames to a peer at once; False when it is gone or takes nothing more."""

UNASKED: Final = 0
"""Request id of what the server sends without being asked (a probe); clients number their requests from 1."""

_log = logging.getLogger("policy_server.server")


class Replies:
    """Encodes and sends answers. Used by the socket thread alone."""

    def __init__(self, send: Send, counters: Counters) -> None:
        self._send, self._counters = send, counters
        self._seldom = Seldom()

    def reply(self, peer: bytes, request_id: int, message: Message) -> bool:
        """Send a message; False when the peer is unreachable."""
        return self.forward(peer, encode(message, request_id))

    def forward(self, peer: bytes, frames: Sequence[Buffer]) -> bool:
        """Send frames that are encoded already."""
        sent = self._send(peer, frames)
        self._counters.unreachable += not sent
        return sent

    def refuse(self, peer: bytes, request_id: int, error: StackError) -> None:
        """Answer a request with an error."""
        self._counters.refused += 1
        self.reply(peer, request_id, ErrorReply(**to_wire(error)))

    def refuse_bytes(self, peer: bytes, request_id: int, error: StackError) -> None:
        """Answer bytes that are no message, if they carry an id to answer to; count them otherwise."""
        if request_id:
            self.refuse(peer, request_id, error)
            return
        self._counters.unreadable += 1
        times = self._seldom.count("unreadable")
        if times is not None:
            _log.warning(log_line("dropped_unreadable", error=error, times=times))

    def skip(self, job: Job, reason: str) -> None:
        """Answer an observation that will not be computed."""
        asked = job.observation
        self.reply(job.peer, job.request_id, Skipped(asked.session, asked.epoch, asked.sequence, reason))
