"""Datagram channels between the processes of one robot."""

from __future__ import annotations

import dataclasses
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import CodecError, FieldError
from contract.types import ActionChunk, GuidanceScales, TemporalRatio
from robot_client import local_codec
from robot_client.channel import MAX_DATAGRAM_BYTES, Channel, channel_from_fd, channel_pair
from robot_client.local_messages import LoopStatus, PersonEvent, PlanFailure, PlanRequest
from robot_client.words import Words


def _request(**changes: object) -> PlanRequest:
    request = PlanRequest(
        epoch=3,
        sequence=9,
        first_row=12,
        prefix=np.arange(28, dtype=np.float32).reshape(2, 14),
        joints=np.zeros(14, np.float32),
        joints_stamp_ns=5,
        instruction="put the red cube in the bowl",
        seed=2**64 - 1,
        budget_ns=400_000_000,
        guidance="adaptive",
        asked_ns=77,
    )
    return dataclasses.replace(request, **changes)  # type: ignore[arg-type]


@given(frames=st.lists(st.binary(max_size=300), min_size=1, max_size=20))
def test_frames_arrive_as_they_were_sent_one_message_at_a_time(frames: list[bytes]) -> None:
    left, right = channel_pair()
    assert left.send(frames)
    assert left.send([b"next"])
    assert [bytes(frame) for frame in right.receive() or []] == frames
    assert [bytes(frame) for frame in right.receive() or []] == [b"next"]
    assert right.receive() is None
    assert not right.closed
    left.close()
    right.close()


def test_a_word_to_a_loop_that_stands_still_for_ten_seconds_is_not_lost() -> None:
    """Suspected: net.unix.max_dgram_qlen, 10 on a stock kernel, ends the queue of a loop that does not read after a
    second of signs of life, and a person's hold is dropped. It is not asked about the two ends of a pair."""
    supervisor, loop = channel_pair()
    for _ in range(10 * 10):
        assert local_codec.send(supervisor, PersonEvent("alive"))
    assert local_codec.send(supervisor, PersonEvent("hold"))
    words = []
    while (message := local_codec.receive(loop)) is not None:
        words.append(message)
    assert words[100:] == [PersonEvent("hold")]
    supervisor.close()
    loop.close()


def test_a_word_that_finds_the_channel_full_is_sent_when_there_is_room_again() -> None:
    """Signs of life filled the channel of a loop that stood still for a minute, and the hold after them was dropped."""
    supervisor, loop = channel_pair()
    words, lives = Words(), 0
    while not supervisor.dropped:
        words.send(supervisor, PersonEvent("alive"))
        lives += 1
    for act in ("release", "hold"):
        words.send(supervisor, PersonEvent(act))  # type: ignore[arg-type]
        words.send(supervisor, PersonEvent("alive"))
    read = [message for _ in range(lives - 1) if (message := local_codec.receive(loop))]
    assert set(read) == {PersonEvent("alive")} and local_codec.receive(loop) is None
    words.send(supervisor, PersonEvent("alive"))
    assert [local_codec.receive(loop) for _ in range(4)] == [
        PersonEvent("release"), PersonEvent("hold"), PersonEvent("alive"), None,
    ]  # fmt: skip
    supervisor.close()
    loop.close()


def test_a_full_channel_drops_and_counts_instead_of_waiting() -> None:
    left, right = channel_pair()
    sent = sum(left.send([bytes(50_000)]) for _ in range(2000))
    assert 0 < sent < 2000
    assert left.dropped == 2000 - sent
    received = 0
    while right.receive() is not None:
        received += 1
    assert received == sent
    assert left.send([b"room again"])


def test_the_end_of_the_other_side_is_seen_after_everything_it_sent() -> None:
    left, right = channel_pair()
    left.send([b"last words"])
    left.close()
    assert [bytes(frame) for frame in right.receive() or []] == [b"last words"]
    assert not right.closed
    assert right.receive() is None
    assert right.closed
    assert right.send([b"into the void"]) is False
    assert right.dropped == 1


def test_a_message_too_large_for_a_datagram_is_refused_by_the_sender() -> None:
    left, _right = channel_pair()
    with pytest.raises(FieldError, match="local message"):
        left.send([bytes(MAX_DATAGRAM_BYTES)])


def test_an_end_can_be_rebuilt_from_its_descriptor() -> None:
    left, right = channel_pair()
    again = channel_from_fd(left.fileno())
    assert again.send([b"through the number"])
    assert right.receive() is not None
    left._socket.detach()


@pytest.mark.parametrize(
    "datagram",
    [
        b"abc",
        struct.pack("<I", 2**31),
        struct.pack("<II", 1, 10) + b"short",
        struct.pack("<II", 1, 2) + b"longer",
        struct.pack("<III", 2, 1, 2**32 - 1) + b"x",
    ],
)
def test_nonsense_is_a_codec_error_and_the_next_message_arrives(datagram: bytes) -> None:
    left, right = channel_pair()
    left._socket.send(datagram)
    left.send([b"good"])
    with pytest.raises(CodecError):
        right.receive()
    assert right.receive() is not None


def _through(channel_message: object) -> object:
    left, right = channel_pair()
    assert local_codec.send(left, channel_message)  # type: ignore[arg-type]
    return local_codec.receive(right)


def test_typed_messages_arrive_equal() -> None:
    request = _through(_request())
    assert isinstance(request, PlanRequest)
    np.testing.assert_array_equal(request.prefix, _request().prefix)
    assert request.seed == 2**64 - 1
    for message in (
        PersonEvent("instruction", "words"),
        PlanFailure(1, -1, "link", "no server"),
        LoopStatus(1, "HOLD", "hold", 2, "", "person", -1, "", -5, True, {"ticks": 4}, {"sched": "got"}, False),
    ):
        assert _through(message) == message


def test_a_chunk_travels_to_the_loop_in_the_networks_own_form() -> None:
    reading = TemporalRatio(0.5, 0.25, 0.5, np.zeros((0, 0, 0, 0, 2), np.float32))
    rows = np.ones((4, 14), np.float32)
    chunk = ActionChunk("s", 1, 2, 3, 4, rows, reading, GuidanceScales(0.0, 1.0), ("full",), (), {"head": 5}, "e")
    got = _through(chunk)
    assert isinstance(got, ActionChunk)
    assert got.chunk_id == "s/1/2"
    np.testing.assert_array_equal(got.rows, rows)


@pytest.mark.parametrize(
    "changes", [{"epoch": "3"}, {"epoch": True}, {"seed": 1.5}, {"guidance": "loud"}, {"instruction": 4}]
)
def test_a_field_of_the_wrong_type_is_named(changes: dict[str, object]) -> None:
    left, right = channel_pair()
    local_codec.send(left, _request(**changes))
    with pytest.raises(CodecError, match=f"PlanRequest.{next(iter(changes))}"):
        local_codec.receive(right)


def test_an_unknown_kind_and_missing_fields_are_refused() -> None:
    from contract.wire import pack

    left, right = channel_pair()
    left.send(pack({"local": "Order66", "body": {}}, {}))
    left.send(pack({"local": "PersonEvent", "body": {"act": "hold"}}, {}))
    left.send(pack({"local": "PersonEvent", "body": {"act": "dance", "text": ""}}, {}))
    for expected in ("local message", "fields of PersonEvent", "PersonEvent.act"):
        with pytest.raises(CodecError, match=expected):
            local_codec.receive(right)
    assert isinstance(right, Channel)
