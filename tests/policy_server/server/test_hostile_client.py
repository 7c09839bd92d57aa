"""What a client that was let in may do to others: learn nothing to steal a session with, and write no lines of ours."""

from __future__ import annotations

import logging

import pytest

from contract.handshake import contract_hash
from contract.messages import ErrorReply, Hello, Ping, ProbeAnswer, Welcome
from policy_server.server.log_lines import Seldom, log_line
from tests.contract.messages_of_all_kinds import observation
from tests.policy_server.server.front import ALICE, BOB, Front, ready_front

LINES = "robot\n2026-01-01 00:00:00 ERROR fault error=none\x1b[2J"


def refusals(front: Front) -> list[ErrorReply]:
    return [reply for _, _, reply in front.heard() if isinstance(reply, ErrorReply)]


def test_no_refusal_tells_the_instance_that_a_session_is_known_by() -> None:
    """Whoever says a holder's instance in a hello takes its name over without a probe, and two refusals told it."""
    front = ready_front()
    front.hello(b"1")
    front.heard()
    front.say(b"2", Ping("robot", 1), 5)
    front.say(b"2", observation(), 6)
    front.hello(b"2", BOB, request_id=7)
    front.say(b"1", ProbeAnswer("robot", ALICE), 0)
    said = refusals(front)
    assert len(said) == 3
    assert not any(ALICE in text for reply in said for text in (reply.what, reply.expected, reply.got, reply.remedy))


def test_the_name_of_a_client_reaches_log_and_refusal_in_one_printable_line(caplog: pytest.LogCaptureFixture) -> None:
    front = ready_front()
    with caplog.at_level(logging.INFO, "policy_server.server"):
        front.say(b"1", Hello("robot", ALICE, contract_hash(), LINES), 1)
        assert isinstance(front.heard()[0][2], Welcome)
    assert all("\n" not in record.getMessage() and "\x1b" not in record.getMessage() for record in caplog.records)
    front.hello(b"2", BOB, request_id=7)
    front.say(b"1", ProbeAnswer("robot", ALICE), 0)
    (reply,) = refusals(front)
    assert "\n" not in reply.got and "\x1b" not in reply.got


def test_a_client_that_says_hello_over_and_over_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    front = ready_front()
    with caplog.at_level(logging.INFO, "policy_server.server"):
        for _ in range(1000):
            front.hello(b"1")
            front.heard()
    assert len(caplog.records) == 10


def test_a_log_line_is_an_event_and_its_facts() -> None:
    assert log_line("session_joined", session="robot-1", client="robot_client pid 7", times=1) == (
        'session_joined session=robot-1 client="robot_client pid 7" times=1'
    )
    assert "\n" not in log_line("fault", error="a\nb") and len(log_line("fault", error="x" * 5000)) < 400


def test_many_kinds_of_events_are_counted_together() -> None:
    """Kinds may hold names that clients choose: their number is bounded too."""
    seldom = Seldom()
    counts = [seldom.count(f"kind {number}") for number in range(1000)]
    assert counts.count(1) == 65 and sum(count is not None for count in counts) < 80
