"""The way between a typed message and its parts: the header's body and the named arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from numpy.typing import NDArray

from contract import messages as m
from contract.bodies import (
    BODIES,
    KINDS,
    PLAIN,
    ChunkBody,
    FramesBody,
    ImagineBody,
    Message,
    ObservationBody,
)
from contract.errors import CodecError
from contract.server_info import Strict
from contract.types import (
    ActionChunk,
    GuidanceScales,
    ImaginedFrames,
    ImagineRequest,
    Observation,
    TemporalRatio,
)

IMAGE: Final = "image."
"""Prefix of an image's array name; the camera role follows."""

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
    if kind in PLAIN:
        _require_arrays(kind, arrays, ())
        return PLAIN[kind][0](**vars(body))
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
