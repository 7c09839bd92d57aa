"""Typed messages <-> frames of `contract.wire`. Protocol 1, written down in docs/protocol.md.

The header of every message is `{protocol, kind, id, body, arrays}`: `id` is the request id a reply echoes, `body` the
plain fields of the message by name, `arrays` the table of the raw frames that follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from contract.bodies import BODIES, KINDS, Message
from contract.errors import CodecError, VersionError
from contract.parts import from_parts, to_parts
from contract.version import PROTOCOL
from contract.wire import Buffer, pack, read_header, unpack


@dataclass(frozen=True, slots=True)
class Envelope:
    """A received message with the request id it carries."""

    request_id: int
    message: Message


_ADAPTERS: Final[dict[str, TypeAdapter]] = {kind: TypeAdapter(body) for kind, body in BODIES.items()}
_HEADER_KEYS: Final = {"protocol", "kind", "id", "body"}


def encode(message: Message, request_id: int) -> list[Buffer]:
    """Frames of a message, sent without copying its large arrays. Raises `FieldError` on what cannot travel."""
    body, arrays = to_parts(message)
    header = {"protocol": PROTOCOL, "kind": KINDS[type(message)], "id": request_id, "body": body}
    return pack(header, arrays)


def decode(frames: Sequence[Buffer]) -> Envelope:
    """The message in `frames`. Raises `CodecError` or `VersionError`; shapes are checked by `contract.check`."""
    header, arrays = unpack(frames)
    request_id = _request_id(header)
    kind = header["kind"]
    if not isinstance(kind, str) or kind not in _ADAPTERS:
        raise CodecError("kind", expected=", ".join(_ADAPTERS), got=str(kind)[:64], remedy="see docs/protocol.md")
    try:
        body = _ADAPTERS[kind].validate_python(header["body"])
        return Envelope(request_id, from_parts(kind, body, arrays))
    except ValidationError as error:
        raise _first_fault(kind, error) from error


def request_id_of(frames: Sequence[Buffer]) -> int:
    """Request id of a message that does not decode, so that its sender can be answered; 0 when there is none.

    Reads the header alone, so a bad array table, kind or protocol number still gets its answer.
    """
    try:
        request_id = read_header(frames[0]).get("id") if frames else 0
    except CodecError:
        return 0
    return request_id if type(request_id) is int and 0 <= request_id < 2**64 else 0


def _request_id(header: Mapping[str, Any]) -> int:
    if type(header.get("protocol")) is not int or header["protocol"] != PROTOCOL:
        raise VersionError(
            "protocol", expected=PROTOCOL, got=str(header.get("protocol"))[:64], remedy="install the same release"
        )
    if set(header) != _HEADER_KEYS:
        raise CodecError(
            "header",
            expected=", ".join(sorted(_HEADER_KEYS)),
            got=", ".join(sorted(map(str, header)))[:200],
            remedy="see docs/protocol.md",
        )
    request_id = header["id"]
    if type(request_id) is not int or not 0 <= request_id < 2**64:
        raise CodecError("id", expected="a u64", got=str(request_id)[:64], remedy="number the requests")
    return request_id


def _first_fault(kind: str, error: ValidationError) -> CodecError:
    fault = error.errors(include_url=False)[0]
    path = ".".join(str(part) for part in fault["loc"])[:200]
    return CodecError(
        f"{kind}.{path}", expected=fault["msg"], got=repr(fault.get("input"))[:100], remedy="see docs/protocol.md"
    )
