"""Plain fields of every message kind, as the header of a message has them."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from pydantic import Field

from contract import messages as m
from contract.server_info import Row, ServerInfo, Strict
from contract.types import (
    ActionChunk,
    Branch,
    GuidanceMode,
    ImaginedFrames,
    ImagineRequest,
    Observation,
    Skipped,
)

Message: TypeAlias = (
    m.Hello
    | m.Welcome
    | m.Ping
    | m.Pong
    | m.Probe
    | m.ProbeAnswer
    | m.ErrorReply
    | m.Goodbye
    | Observation
    | ActionChunk
    | Skipped
    | ImagineRequest
    | ImaginedFrames
)

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$")]
Text = Annotated[str, Field(max_length=2000)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
U64 = Annotated[int, Field(ge=0, lt=2**64)]
Branches = Annotated[tuple[Branch, ...], Row, Field(max_length=3)]
Durations = Annotated[dict[Name, Count], Field(max_length=64)]


class Of(Strict):
    """Which observation a message answers."""

    session: Name
    epoch: Count
    sequence: Count


class HelloBody(Strict):
    session: Name
    instance: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    contract_hash: Text
    client: Text


class WelcomeBody(Strict):
    info: ServerInfo


class PingBody(Strict):
    session: Name
    sequence: Count


class PongBody(Strict):
    sequence: Count
    state: Text


class SessionBody(Strict):
    session: Name


class ProbeAnswerBody(Strict):
    session: Name
    instance: Text


class ErrorBody(Strict):
    code: Text
    what: Text
    expected: Text
    got: Text
    remedy: Text


class SkippedBody(Of):
    reason: Text


class ObservationBody(Of):
    stamp_ns: Count
    joints_stamp_ns: Count
    image_stamps_ns: Annotated[dict[Name, Count], Field(max_length=16)]
    instruction: Annotated[str, Field(max_length=1000)]
    seed: U64
    first_row: Count
    budget_ns: Count
    guidance: GuidanceMode
    branches: Branches


class ImagineBody(ObservationBody):
    chunks: Annotated[int, Field(ge=1, le=10)]


class ChunkBody(Of):
    observation_stamp_ns: Count
    first_row: Count
    tr_value: float
    tr_density: float
    tr_rank: float
    scale_lang: float
    scale_plan: float
    branches_run: Branches
    branches_dropped: Branches
    durations_ns: Durations
    engine_id: Text


class FramesBody(Of):
    frame_step_ns: Count
    durations_ns: Durations


PLAIN: Final[dict[str, tuple[type, type[Strict]]]] = {
    "hello": (m.Hello, HelloBody),
    "welcome": (m.Welcome, WelcomeBody),
    "ping": (m.Ping, PingBody),
    "pong": (m.Pong, PongBody),
    "probe": (m.Probe, SessionBody),
    "probe_answer": (m.ProbeAnswer, ProbeAnswerBody),
    "error": (m.ErrorReply, ErrorBody),
    "goodbye": (m.Goodbye, SessionBody),
    "skipped": (Skipped, SkippedBody),
}
"""Messages without arrays: the body's fields are the message's fields."""

BODIES: Final[dict[str, type[Strict]]] = {
    **{kind: body for kind, (_, body) in PLAIN.items()},
    "observation": ObservationBody,
    "imagine": ImagineBody,
    "chunk": ChunkBody,
    "frames": FramesBody,
}
KINDS: Final[dict[type, str]] = {
    **{message: kind for kind, (message, _) in PLAIN.items()},
    Observation: "observation",
    ImagineRequest: "imagine",
    ActionChunk: "chunk",
    ImaginedFrames: "frames",
}
