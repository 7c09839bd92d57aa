"""B05 on the robot's side: whatever the other end sends, nothing runs, and the link goes on."""

from __future__ import annotations

import random
from pathlib import Path

import msgpack
import pytest

from contract import errors as e
from contract.bodies import Message
from contract.codec import encode
from contract.types import ActionChunk, Observation
from contract.wire import MAX_ARRAY_BYTES
from tests.contract.messages_of_all_kinds import chunk, observation, server_info
from tests.contract.test_wire import hostile
from tests.robot_client.link.fake_server import Send, fake_server
from tests.robot_client.link.links import link_to, poll_until


def test_hostile_bytes_from_a_server_are_counted_and_the_next_answer_is_taken(tmp_path: Path) -> None:
    """B05."""
    marker, rng = tmp_path / "marker", random.Random(2)

    def junk_first(message: Message, request_id: int, send: Send) -> bool:
        if not isinstance(message, Observation):
            return False
        for frames in hostile(marker):
            if frames and sum(map(len, frames)) < MAX_ARRAY_BYTES:
                send(frames)
        for _ in range(1000):
            send([rng.randbytes(rng.randrange(300)) for _ in range(rng.randrange(1, 6))])
        send(encode(chunk(message), request_id))
        return True

    with fake_server(server_info(), junk_first) as server, link_to(server.endpoint) as link:
        link.connect()
        assert isinstance(link.wait_for(link.submit(observation())), ActionChunk)
        assert link.counters.unreadable + link.counters.late >= 1000
        assert link.state == "READY"
    assert not marker.exists()


def test_a_broken_answer_ends_its_request_with_the_reason() -> None:
    """B05: the id is readable, the rest is not."""

    def broken(message: Message, request_id: int, send: Send) -> bool:
        if not isinstance(message, Observation):
            return False
        frames = encode(chunk(message), request_id)
        if message.sequence == 1:
            frames = [frames[0], b"short", *frames[2:]]
        if message.sequence == 2:
            frames = [msgpack.packb({**msgpack.unpackb(frames[0]), "protocol": 9}), *frames[1:]]
        send(frames)
        return True

    with fake_server(server_info(), broken) as server, link_to(server.endpoint) as link:
        link.connect()
        with pytest.raises(e.CodecError, match="size of rows"):
            link.wait_for(link.submit(observation(sequence=1)))
        with pytest.raises(e.VersionError, match="protocol: expected 1, got 9"):
            link.wait_for(link.submit(observation(sequence=2)))
        assert isinstance(link.wait_for(link.submit(observation(sequence=3))), ActionChunk)


def test_a_frame_beyond_the_limit_costs_the_connection_and_the_link_comes_back() -> None:
    """B05: 300 MB of zeros."""

    def huge_first(message: Message, request_id: int, send: Send) -> bool:
        if isinstance(message, Observation) and message.sequence == 1:
            send([bytes(MAX_ARRAY_BYTES + 1)])
            return True
        if isinstance(message, Observation):
            send(encode(chunk(message), request_id))
            return True
        return False

    with fake_server(server_info(), huge_first) as server, link_to(server.endpoint) as link:
        link.connect()
        with pytest.raises(e.LinkError, match="connection was lost"):
            link.wait_for(link.submit(observation(sequence=1)))
        poll_until(link, lambda answers: link.state == "READY")
        assert isinstance(link.wait_for(link.submit(observation(sequence=2))), ActionChunk)
