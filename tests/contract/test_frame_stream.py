"""Messages in a byte stream: whatever goes in comes out, and a stream that is none is refused."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.codec import decode, encode
from contract.errors import CodecError
from contract.frame_stream import read_messages, write_message
from contract.types import Observation
from tests.contract.messages_of_all_kinds import observation


@given(st.lists(st.lists(st.binary(max_size=50), max_size=5), max_size=5))
def test_messages_come_out_as_they_went_in(messages: list[list[bytes]]) -> None:
    stream = io.BytesIO()
    for frames in messages:
        write_message(stream, frames)
    stream.seek(0)
    assert [list(map(bytes, frames)) for frames in read_messages(stream)] == messages


def test_an_observation_survives_the_way() -> None:
    stream = io.BytesIO()
    write_message(stream, encode(observation(), 7))
    stream.seek(0)
    (frames,) = read_messages(stream)
    message = decode(frames).message
    assert isinstance(message, Observation) and message.images.keys() == observation().images.keys()


@given(st.integers(1, 200))
def test_a_stream_that_ends_within_a_message_is_refused(cut: int) -> None:
    stream = io.BytesIO()
    write_message(stream, encode(observation(), 7))
    whole = stream.getvalue()
    with pytest.raises(CodecError):
        list(read_messages(io.BytesIO(whole[: len(whole) - min(cut, len(whole) - 1)])))


@pytest.mark.parametrize("start", [struct.pack("<I", 1000), struct.pack("<II", 1, 2**31), b"abc", b"not a stream"])
def test_sizes_are_bounded_before_anything_is_read(start: bytes) -> None:
    with pytest.raises(CodecError):
        list(read_messages(io.BytesIO(start)))
