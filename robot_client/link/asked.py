"""Requests that wait for their answer, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from contract.bodies import Message
from contract.check_answer import check_chunk, check_frames
from contract.errors import CodecError, StackError, from_wire
from contract.messages import ErrorReply
from contract.server_info import ServerInfo
from contract.types import ActionChunk, ImaginedFrames, ImagineRequest, Observation, Skipped
from contract.wire import Buffer

Outcome: TypeAlias = ActionChunk | ImaginedFrames | Skipped | StackError


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One request and until when it waits."""

    request_id: int
    question: Observation | ImagineRequest
    frames: Sequence[Buffer]
    asked_ns: int
    due_ns: int
    begun_ns: int = 0
    """Checked; encoding begins."""
    encoded_ns: int = 0
    """Encoded; the frames may go."""

    @property
    def observation(self) -> Observation:
        """The observation asked about."""
        return self.question.observation if isinstance(self.question, ImagineRequest) else self.question


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The end of one request. Every request has exactly one."""

    asked: Asked
    outcome: Outcome
    answered_ns: int
    received_ns: int = 0
    """When the reply came out of the socket, before it was decoded; 0 when there was none."""


def judge(asked: Asked, reply: Message, info: ServerInfo) -> Outcome:
    """The reply if it answers what was asked, else the error it is or deserves."""
    try:
        if isinstance(reply, ErrorReply):
            return from_wire(reply.code, reply.what, reply.expected, reply.got, reply.remedy)
        if isinstance(reply, Skipped):
            return reply
        if isinstance(reply, ActionChunk) and isinstance(asked.question, Observation):
            check_chunk(reply, asked.question, info)
            return reply
        if isinstance(reply, ImaginedFrames) and isinstance(asked.question, ImagineRequest):
            check_frames(reply, asked.observation)
            return reply
    except StackError as error:
        return error
    return CodecError(
        "reply",
        expected=f"an answer to {type(asked.question).__name__}",
        got=type(reply).__name__,
        remedy="see docs/protocol.md",
    )
