"""Every message survives the wire, and what the header claims is believed only within bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgpack
import numpy as np
import pytest

from contract import errors as e
from contract.bodies import KINDS, Message
from contract.codec import decode, encode, request_id_of
from contract.messages import ErrorReply
from contract.wire import Buffer
from tests.contract.messages_of_all_kinds import observation, one_of_each


def sent(message: Message, request_id: int = 5) -> list[bytes]:
    """Frames as they arrive on the other side."""
    return [bytes(frame) for frame in encode(message, request_id)]


def same(a: Any, b: Any) -> bool:
    """Equality through dataclasses, mappings and arrays; NaN equals NaN."""
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(
            same(getattr(a, field.name), getattr(b, field.name)) for field in dataclasses.fields(a)
        )
    if isinstance(a, Mapping):
        return set(a) == set(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return a == b or (isinstance(a, float) and a != a and b != b)


@pytest.mark.parametrize("message", one_of_each(), ids=lambda message: type(message).__name__)
def test_every_kind_of_message_survives_the_wire(message: Message) -> None:
    envelope = decode(sent(message))
    assert envelope.request_id == 5
    assert same(envelope.message, message)


def test_there_is_one_of_each_kind_in_these_tests() -> None:
    assert {type(message) for message in one_of_each()} == set(KINDS)


@pytest.mark.parametrize("kind", e._tree(e.StackError), ids=lambda kind: kind.__name__)
def test_every_error_of_the_tree_survives_the_wire(kind: type[e.StackError]) -> None:
    error = kind("joints", expected=14, got="13 ünïcode", remedy="send 14")
    reply = decode(sent(ErrorReply(**e.to_wire(error)))).message
    assert isinstance(reply, ErrorReply)
    back = e.from_wire(reply.code, reply.what, reply.expected, reply.got, reply.remedy)
    assert type(back) is kind
    assert str(back) == str(error)


def test_codes_of_the_error_tree_are_unique() -> None:
    codes = [kind.code for kind in e._tree(e.StackError)]
    assert len(set(codes)) == len(codes)


def test_an_error_with_text_that_is_no_text_is_still_reported() -> None:
    """A file name with undecodable bytes came out of an engine and must not end the server."""
    error = e.EngineError("file \udcff", got="x" * 5000)
    reply = decode(sent(ErrorReply(**e.to_wire(error)))).message
    assert isinstance(reply, ErrorReply)
    assert reply.what == "file ?" and len(reply.got) == 2000


def test_an_unknown_error_code_of_a_newer_peer_becomes_a_plain_error() -> None:
    assert type(e.from_wire("tomorrow", "x", "", "", "")) is e.StackError


def header_of(message: Message) -> dict[str, Any]:
    header: dict[str, Any] = msgpack.unpackb(sent(message)[0])
    return header


def altered(change: Mapping[str, Any]) -> list[Buffer]:
    """A good observation with top-level header entries replaced."""
    frames = sent(observation(), 9)
    return [msgpack.packb({**header_of(observation()), "id": 9, **change}), *frames[1:]]


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"protocol": 2}, e.VersionError, "protocol: expected 1, got 2"),
        ({"protocol": True}, e.VersionError, "got True"),
        ({"protocol": None}, e.VersionError, "got None"),
        ({"kind": "teleport"}, e.CodecError, "got teleport"),
        ({"kind": 7}, e.CodecError, "kind"),
        ({"extra": 1}, e.CodecError, "header"),
        ({"body": []}, e.CodecError, "observation"),
        ({"body": None}, e.CodecError, "observation"),
        ({"arrays": {}}, e.CodecError, "arrays"),
        ({"arrays": []}, e.CodecError, "arrays"),
        ({"arrays": [["joints", "<f4", [14]]] * 5}, e.CodecError, "array joints: expected one, got two"),
    ],
)
def test_a_wrong_header_is_refused_with_the_field_and_keeps_its_id(
    change: dict[str, Any], kind: type[e.StackError], words: str
) -> None:
    frames = altered(change)
    with pytest.raises(kind) as caught:
        decode(frames)
    assert words in str(caught.value)
    assert request_id_of(frames) == 9


@pytest.mark.parametrize("request_id", [-1, 2**64, 1.0, "1", None, True])
def test_a_request_id_that_is_no_u64_is_refused_and_reads_as_none(request_id: Any) -> None:
    header = {**header_of(observation()), "id": request_id}
    if request_id == 2**64:
        with pytest.raises(OverflowError):  # msgpack itself has no such number
            msgpack.packb(header)
        return
    frames = [msgpack.packb(header), *sent(observation())[1:]]
    with pytest.raises(e.CodecError):
        decode(frames)
    assert request_id_of(frames) == 0


def test_header_keys_of_mixed_types_are_refused_like_any_others() -> None:
    frames = [msgpack.packb({**header_of(observation()), b"x": 1})]
    with pytest.raises(e.CodecError):
        decode([*frames, *sent(observation())[1:]])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("session", ""),
        ("session", "a b"),
        ("session", "x" * 65),
        ("epoch", -1),
        ("epoch", 1.0),
        ("epoch", True),
        ("seed", -1),
        ("first_row", 2**63),
        ("budget_ns", "0"),
        ("guidance", "maximal"),
        ("branches", ["full", "full", "full", "full"]),
        ("branches", ["half"]),
        ("image_stamps_ns", {"top": -1}),
        ("image_stamps_ns", {str(i): 1 for i in range(17)}),
        ("instruction", "x" * 1001),
        ("instruction", b"put"),
    ],
)
def test_a_body_field_out_of_its_bounds_is_named(field: str, value: Any) -> None:
    body = {**header_of(observation())["body"], field: value}
    with pytest.raises(e.CodecError, match=f"observation.{field}"):
        decode(altered({"body": body}))


def test_an_unknown_body_field_is_named() -> None:
    body = {**header_of(observation())["body"], "temperature": 1}
    with pytest.raises(e.CodecError, match=r"observation\.temperature"):
        decode(altered({"body": body}))


def test_a_missing_array_is_named() -> None:
    table = header_of(observation())["arrays"]
    frames = altered({"arrays": table[1:]})
    with pytest.raises(e.CodecError, match="arrays of observation"):
        decode([frames[0], *frames[2:]])
