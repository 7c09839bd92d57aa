"""What the inference thread tells the socket thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from contract.errors import StackError
from contract.server_info import ServerInfo
from contract.types import ActionChunk
from contract.wire import Buffer
from policy_server.server.schedule import Job


@dataclass(frozen=True, slots=True)
class Loaded:
    """The policy is warm; `info` holds its measured costs."""

    info: ServerInfo


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """There is no policy to serve; the server ends with this error."""

    error: StackError


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A job is done and `frames` answer it."""

    job: Job
    frames: Sequence[Buffer]
    chunk: ActionChunk | None = None
    """The answer to an observation, for the statistics; None for imagined frames."""


@dataclass(frozen=True, slots=True, eq=False)
class Outrun:
    """The budget of a job was over before its turn came; nothing was computed."""

    job: Job
    waited_ns: int


@dataclass(frozen=True, slots=True, eq=False)
class Refused:
    """A job cannot be answered; `at_fault` when that is the engine's doing and not the request's."""

    job: Job
    error: StackError
    at_fault: bool


Report: TypeAlias = Loaded | LoadFailed | Answered | Outrun | Refused
