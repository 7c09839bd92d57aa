"""Local messages <-> frames. Same frames and limits as the network's (`contract.wire`), checked as strictly."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, get_type_hints

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from contract import codec
from contract.errors import CodecError
from contract.types import ActionChunk
from contract.wire import Buffer, pack, unpack
from robot_client import local_messages as m
from robot_client.channel import Channel

_KINDS: Final[dict[str, Any]] = {
    kind.__name__: kind
    for kind in (
        m.PlanRequest,
        m.PolicyReady,
        m.PlanFailure,
        m.CameraAges,
        m.PersonEvent,
        m.TickBatch,
        m.LoopStatus,
        m.RecorderStatus,
        m.ReplanRecord,
        m.Imagined,
    )
}
"""Messages of our own; an `ActionChunk` travels in the network's form."""


def encode(message: m.LocalMessage) -> list[Buffer]:
    """Frames of a local message."""
    if isinstance(message, ActionChunk):
        return codec.encode(message, message.sequence)
    plain, arrays = _fields(type(message).__name__)
    body = {name: _travelling(getattr(message, name)) for name in plain}
    return pack({"local": type(message).__name__, "body": body}, {name: getattr(message, name) for name in arrays})


def decode(frames: Sequence[Buffer]) -> m.LocalMessage:
    """The message in `frames`. Raises `CodecError` naming the field that is not as declared."""
    header, arrays = unpack(frames)
    if "protocol" in header:
        return _chunk(frames)
    kind = _KINDS.get(str(header.get("local")))
    body = header.get("body")
    if kind is None or not isinstance(body, dict):
        raise CodecError("local message", expected=", ".join(_KINDS), got=str(header.get("local"))[:64])
    plain, array_names = _fields(kind.__name__)
    if set(body) != set(plain) or set(arrays) != set(array_names):
        raise CodecError(
            f"fields of {kind.__name__}", expected=sorted((*plain, *array_names)), got=sorted((*body, *arrays))
        )
    values = {name: _checked(kind, name, adapter, body[name]) for name, adapter in plain.items()}
    return kind(**values, **{name: np.asarray(array) for name, array in arrays.items()})


def send(channel: Channel, message: m.LocalMessage) -> bool:
    """Send or drop; never waits."""
    return channel.send(encode(message))


def receive(channel: Channel) -> m.LocalMessage | None:
    """The next message, or None when there is none now (then look at `channel.closed`)."""
    frames = channel.receive()
    return None if frames is None else decode(frames)


@cache
def _fields(name: str) -> tuple[dict[str, TypeAdapter], tuple[str, ...]]:
    """Checked plain fields and array fields of a kind."""
    kind = _KINDS[name]
    hints = get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]
    arrays = tuple(name for name in names if hints[name] == NDArray)
    return {name: TypeAdapter(hints[name]) for name in names if name not in arrays}, arrays


def _travelling(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _checked(kind: type, name: str, adapter: TypeAdapter, value: Any) -> Any:
    try:
        return adapter.validate_python(tuple(value) if isinstance(value, list) else value, strict=True)
    except ValidationError as error:
        raise CodecError(
            f"{kind.__name__}.{name}", expected=error.errors(include_url=False)[0]["msg"], got=repr(value)[:100]
        ) from error


def _chunk(frames: Sequence[Buffer]) -> ActionChunk:
    message = codec.decode(frames).message
    if not isinstance(message, ActionChunk):
        raise CodecError("local message", expected="a chunk", got=type(message).__name__)
    return message
