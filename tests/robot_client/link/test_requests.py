"""Requests and their answers: late ones, wrong ones, newest wins (B01 c, B04, B05)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contract import errors as e
from contract.bodies import Message
from contract.codec import encode
from contract.messages import Welcome
from contract.types import ActionChunk, ImaginedFrames, ImagineRequest, Observation, Skipped
from robot_client.link.asked import Answer, Asked
from robot_client.link.counters import LinkCounters
from robot_client.link.requests import WINDOW, Requests
from tests.contract.messages_of_all_kinds import chunk, observation, server_info
from tests.robot_client.link.fake_server import Send, fake_server
from tests.robot_client.link.links import link_to, poll_until


def outcomes(answers: list[Answer]) -> list[tuple[int, str]]:
    """(sequence, kind of outcome) of each answer."""
    return [(answer.asked.observation.sequence, type(answer.outcome).__name__) for answer in answers]


class Clock:
    """Time in the test's hand."""

    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


def asked(sequence: int, due_ns: int = 1000) -> Asked:
    return Asked(sequence, observation(sequence=sequence), (), 0, due_ns)


def test_an_unsent_observation_is_replaced_by_the_newer_one() -> None:
    """B04: newest wins, and the older one is answered too."""
    requests = Requests(LinkCounters(), Clock())
    requests.put(asked(1))
    requests.put(asked(2))
    assert outcomes(requests.answers()) == [(1, "Skipped")]
    sent: list[int] = []
    requests.send(lambda one: not sent.append(one.request_id))  # type: ignore[func-returns-value]
    assert sent == [2]


def test_no_more_than_three_observations_are_on_their_way() -> None:
    """B04: memory and age stay bounded when the other side stops reading."""
    requests = Requests(LinkCounters(), Clock())
    sent: list[int] = []
    for sequence in range(10):
        requests.put(asked(sequence))
        requests.send(lambda one: not sent.append(one.request_id))  # type: ignore[func-returns-value]
    assert sent == list(range(WINDOW))
    first = requests.take(0)
    assert first is not None
    requests.end(first, Skipped("robot", 2, 0, "superseded"))
    requests.send(lambda one: not sent.append(one.request_id))  # type: ignore[func-returns-value]
    assert sent[-1] == 9


def test_every_request_ends_in_exactly_one_answer() -> None:
    clock, counters = Clock(), LinkCounters()
    requests = Requests(counters, clock)
    for sequence in range(6):
        requests.put(asked(sequence, due_ns=1000 + sequence))
        requests.send(lambda one: True)
    clock.now_ns = 1001
    requests.end_overdue("READY")
    requests.end_all(e.LinkError("lost"))
    requests.end_all(e.LinkError("lost again"))
    ended = outcomes(requests.answers())
    assert sorted(sequence for sequence, _ in ended) == list(range(6))
    assert dict(ended)[0] == "LinkTimeoutError" and dict(ended)[2] == "LinkError" and dict(ended)[4] == "Skipped"
    assert (counters.timed_out, counters.failed, counters.skipped, counters.replaced) == (2, 2, 2, 2)


def test_what_is_overdue_is_given_up_with_its_budget_in_the_message() -> None:
    clock = Clock()
    requests = Requests(LinkCounters(), clock)
    requests.put(asked(7, due_ns=500_000_000))
    assert requests.next_due_ns() == 500_000_000
    clock.now_ns = 500_000_000
    requests.end_overdue("SILENT")
    (answer,) = requests.answers()
    assert str(answer.outcome).startswith("answer to sequence 7: expected within 500 ms, got none, link SILENT")
    assert requests.take(7) is None


def test_after_a_lost_reply_the_next_request_works_and_the_late_reply_is_thrown_away() -> None:
    """B01 (c): a lock-step socket refused every later send, or took the late reply for the next answer."""
    held: list[tuple[Observation, int]] = []

    def lose_the_first(message: Message, request_id: int, send: Send) -> bool:
        if not isinstance(message, Observation):
            return False
        if not held:
            held.append((message, request_id))
            return True
        late, late_id = held[0]
        send(encode(chunk(late), late_id))
        send(encode(chunk(message), request_id))
        return True

    with fake_server(server_info(), lose_the_first) as server, link_to(server.endpoint) as link:
        link.connect()
        with pytest.raises(e.LinkTimeoutError, match="sequence 1: expected within 100 ms"):
            link.wait_for(link.submit(observation(sequence=1), 100.0))
        answer = link.wait_for(link.submit(observation(sequence=2)))
        assert answer.sequence == 2
        assert (link.counters.late, link.counters.timed_out, link.counters.answered) == (1, 1, 1)
        assert link.state == "READY"


WRONG: dict[str, tuple[Any, type[e.StackError], str]] = {
    "older epoch": (lambda asked: replace(chunk(asked), epoch=1), e.FieldError, "session, epoch, sequence"),
    "other rows": (lambda asked: replace(chunk(asked), first_row=3), e.FieldError, "first_row"),
    "row missing": (lambda asked: chunk(asked, horizon=15), e.FieldError, "rows"),
    "nan": (lambda asked: replace(chunk(asked), rows=np.full((14, 14), np.nan, np.float32)), e.ActionError, "row 20"),
    "float64": (lambda asked: replace(chunk(asked), rows=np.zeros((14, 14))), e.FieldError, "rows"),
    "other kind": (lambda asked: Welcome(server_info()), e.CodecError, "reply"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_answer_to_something_else_becomes_a_typed_error_and_the_link_lives(wrong: str) -> None:
    """B13 and B23 at the link: nothing of a wrong answer is used."""
    make, kind, words = WRONG[wrong]

    def once_wrong(message: Message, request_id: int, send: Send) -> bool:
        if isinstance(message, Observation):
            send(encode(make(message) if message.sequence == 1 else chunk(message), request_id))
        return isinstance(message, Observation)

    with fake_server(server_info(), once_wrong) as server, link_to(server.endpoint) as link:
        link.connect()
        with pytest.raises(kind, match=words):
            link.wait_for(link.submit(observation(sequence=1)))
        assert isinstance(link.wait_for(link.submit(observation(sequence=2))), ActionChunk)


def test_imagined_frames_come_back_by_their_own_request() -> None:
    frames = np.zeros((3, 4, 6, 3), np.uint8)

    def answer_all(message: Message, request_id: int, send: Send) -> bool:
        if isinstance(message, ImagineRequest):
            send(encode(ImaginedFrames("robot", 2, message.observation.sequence, frames, 1, {}), request_id))
        elif isinstance(message, Observation):
            send(encode(chunk(message), request_id))
        return isinstance(message, Observation | ImagineRequest)

    with fake_server(server_info(), answer_all) as server, link_to(server.endpoint) as link:
        link.connect()
        first = link.imagine(ImagineRequest(observation(sequence=1), 2))
        second = link.submit(observation(sequence=2))
        answers = poll_until(link, lambda answers: len(answers) == 2)
        assert {answer.asked.request_id: type(answer.outcome) for answer in answers} == {
            first: ImaginedFrames,
            second: ActionChunk,
        }


def test_poll_returns_as_soon_as_another_descriptor_is_readable() -> None:
    """The planner waits for its loop and for the server in one call."""
    import os
    import time

    read_end, write_end = os.pipe()
    try:
        with fake_server(server_info()) as server, link_to(server.endpoint) as link:
            link.connect()
            os.write(write_end, b"x")
            begin_s = time.monotonic()
            link.poll(100.0, (read_end,))
            assert time.monotonic() - begin_s < 30.0
        with link_to("tcp://127.0.0.1:9") as link:
            begin_s = time.monotonic()
            link.poll(100.0, (read_end,))
            assert time.monotonic() - begin_s < 30.0
    finally:
        os.close(read_end)
        os.close(write_end)
