"""Plain fields of every message kind, and the way between a typed message and (body, arrays)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeAlias

from numpy.typing import NDArray
from pydantic import Field

from contract import messages as m
from contract.errors import CodecError
from contract.server_info import Row, ServerInfo, Strict
from contract.types import (
    ActionChunk,
    Branch,
    GuidanceMode,
    GuidanceScales,
    ImaginedFrames,
    ImagineRequest,
    Observation,
    Skipped,
    TemporalRatio,
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

IMAGE: Final = "image."
"""Prefix of an image's array name; the camera role follows."""


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


_PLAIN: Final[dict[str, tuple[type, type[Strict]]]] = {
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
    **{kind: body for kind, (_, body) in _PLAIN.items()},
    "observation": ObservationBody,
    "imagine": ImagineBody,
    "chunk": ChunkBody,
    "frames": FramesBody,
}
KINDS: Final[dict[type, str]] = {
    **{message: kind for kind, (message, _) in _PLAIN.items()},
    Observation: "observation",
    ImagineRequest: "imagine",
    ActionChunk: "chunk",
    ImaginedFrames: "frames",
}

Parts = tuple[dict[str, Any], dict[str, NDArray]]


def to_parts(message: Message) -> Parts:
    """Body fields and named arrays of a message."""
    if isinstance(message, Observation):
        return _observation_parts(message)
    if isinstance(message, ImagineRequest):
        body, arrays = _observation_parts(message.observation)
        return {**body, "chunks": message.chunks}, arrays
    if isinstance(message, ActionChunk):
        return _chunk_parts(message)
    if isinstance(message, ImaginedFrames):
        return _fields(message, FramesBody), {"frames": message.frames}
    if isinstance(message, m.Welcome):
        return {"info": message.info.model_dump(mode="json")}, {}
    return _fields(message, BODIES[KINDS[type(message)]]), {}


def from_parts(kind: str, body: Any, arrays: Mapping[str, NDArray]) -> Message:
    """The typed message; raises `CodecError` when an array is missing or unknown."""
    if kind in _PLAIN:
        _require_arrays(kind, arrays, ())
        return _PLAIN[kind][0](**vars(body))
    return _WITH_ARRAYS[kind](body, arrays)


def _fields(message: object, body: type[Strict]) -> dict[str, Any]:
    return {name: _plain(getattr(message, name)) for name in body.model_fields}


def _plain(value: Any) -> Any:
    """Mappings and tuples as msgpack has them."""
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _observation_parts(message: Observation) -> Parts:
    arrays = {"joints": message.joints, "prefix": message.prefix}
    arrays.update({IMAGE + role: image for role, image in message.images.items()})
    return _fields(message, ObservationBody), arrays


def _observation(body: ObservationBody, arrays: Mapping[str, NDArray]) -> Observation:
    return _assembled(vars(body), arrays)


def _imagine(body: ImagineBody, arrays: Mapping[str, NDArray]) -> ImagineRequest:
    plain = dict(vars(body))
    chunks = plain.pop("chunks")
    return ImagineRequest(_assembled(plain, arrays), chunks)


def _assembled(plain: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> Observation:
    images = {name[len(IMAGE) :]: array for name, array in arrays.items() if name.startswith(IMAGE)}
    _require_arrays("observation", arrays, ("joints", "prefix", *(IMAGE + role for role in images)))
    return Observation(joints=arrays["joints"], prefix=arrays["prefix"], images=images, **plain)


def _chunk_parts(message: ActionChunk) -> Parts:
    reading = message.temporal_ratio
    flat = {
        "tr_value": float(reading.value),
        "tr_density": float(reading.density),
        "tr_rank": float(reading.rank),
        "scale_lang": float(message.scales.lang),
        "scale_plan": float(message.scales.plan),
    }
    plain = {name: _plain(getattr(message, name)) for name in ChunkBody.model_fields if name not in flat}
    return {**plain, **flat}, {"rows": message.rows, "masses": reading.masses}


def _chunk(body: ChunkBody, arrays: Mapping[str, NDArray]) -> ActionChunk:
    _require_arrays("chunk", arrays, ("rows", "masses"))
    return ActionChunk(
        session=body.session,
        epoch=body.epoch,
        sequence=body.sequence,
        observation_stamp_ns=body.observation_stamp_ns,
        first_row=body.first_row,
        rows=arrays["rows"],
        temporal_ratio=TemporalRatio(body.tr_value, body.tr_density, body.tr_rank, arrays["masses"]),
        scales=GuidanceScales(body.scale_lang, body.scale_plan),
        branches_run=body.branches_run,
        branches_dropped=body.branches_dropped,
        durations_ns=body.durations_ns,
        engine_id=body.engine_id,
    )


def _frames(body: FramesBody, arrays: Mapping[str, NDArray]) -> ImaginedFrames:
    _require_arrays("frames", arrays, ("frames",))
    return ImaginedFrames(frames=arrays["frames"], **vars(body))


def _require_arrays(kind: str, arrays: Mapping[str, NDArray], wanted: tuple[str, ...]) -> None:
    if set(arrays) != set(wanted):
        raise CodecError(
            f"arrays of {kind}", expected=sorted(wanted), got=sorted(arrays), remedy="see docs/protocol.md"
        )


_WITH_ARRAYS: Final[dict[str, Callable[[Any, Mapping[str, NDArray]], Message]]] = {
    "observation": _observation,
    "imagine": _imagine,
    "chunk": _chunk,
    "frames": _frames,
}
