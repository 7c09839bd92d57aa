"""Who gets a session name, with every message and every millisecond in the test's hand (B03)."""

from __future__ import annotations

from typing import Any

import pytest

from contract.handshake import contract_hash
from contract.messages import ErrorReply, Goodbye, Hello, Ping, Pong, Probe, ProbeAnswer, Welcome
from contract.types import Skipped
from policy_server.server.sessions import MAX_SESSIONS, STALE_NS
from tests.contract.messages_of_all_kinds import observation
from tests.policy_server.server.front import ALICE, BOB, Front, ready_front


def only(front: Front, peer: bytes) -> Any:
    """The one message that was sent, to this peer."""
    ((to, _, message),) = front.heard()
    assert to == peer
    return message


def test_a_hello_is_welcomed_with_the_server_info_and_its_own_id() -> None:
    front = ready_front()
    front.hello(b"1", request_id=77)
    ((peer, request_id, message),) = front.heard()
    assert (peer, request_id) == (b"1", 77)
    assert isinstance(message, Welcome) and message.info.state == "READY"


def test_while_the_policy_loads_a_hello_is_answered_busy_and_accepted_later() -> None:
    front = Front()
    front.hello(b"1")
    assert only(front, b"1").code == "busy"
    ready = ready_front()
    ready.hello(b"1")
    assert isinstance(only(ready, b"1"), Welcome)


def test_another_contract_is_refused_with_both_hashes() -> None:
    front = ready_front()
    front.say(b"1", Hello("robot", ALICE, "feedfeedfeedfeed", "old client"))
    reply = only(front, b"1")
    assert (reply.code, reply.expected, reply.got) == ("version", contract_hash(), "feedfeedfeedfeed")
    assert "old client" in reply.what and "same release" in reply.remedy


def test_the_same_instance_comes_back_on_a_new_connection_without_a_probe() -> None:
    """B03: take-over depended on whether the server had noticed the end of the old connection."""
    front = ready_front()
    front.hello(b"1")
    front.heard()
    front.hello(b"2")
    assert isinstance(only(front, b"2"), Welcome)
    front.say(b"1", Ping("robot", 1))
    assert only(front, b"1").code == "session"


def test_a_live_holder_keeps_its_name_and_the_newcomer_is_told_who_has_it() -> None:
    """B03 (b)."""
    front = ready_front()
    front.hello(b"1")
    front.heard()
    front.hello(b"2", BOB, request_id=9)
    assert isinstance(only(front, b"1"), Probe)
    front.pass_ms(120)
    front.say(b"1", ProbeAnswer("robot", ALICE), 0)
    ((peer, request_id, reply),) = front.heard()
    assert (peer, request_id) == (b"2", 9)
    assert isinstance(reply, ErrorReply) and reply.code == "session"
    assert "robot" in reply.what and "tests" in reply.got
    front.pass_ms(1000)
    assert front.heard() == []
    front.say(b"1", Ping("robot", 1))
    assert isinstance(only(front, b"1"), Pong)


def test_a_holder_that_cannot_be_reached_loses_its_name_at_once() -> None:
    """B03 (a)."""
    front = ready_front()
    front.hello(b"1")
    front.heard()
    front.gone.add(b"1")
    front.hello(b"2", BOB)
    assert isinstance(only(front, b"2"), Welcome)


def test_a_silent_holder_loses_its_name_after_300_ms_and_not_before() -> None:
    """B03: a client that lost its power leaves a connection that looks alive."""
    front = ready_front()
    front.hello(b"1")
    front.heard()
    front.hello(b"2", BOB)
    front.heard()
    front.pass_ms(299)
    assert front.heard() == []
    assert front.desk.next_due_ns() == 300_000_000
    front.pass_ms(1)
    assert isinstance(only(front, b"2"), Welcome)


def test_a_newcomer_that_repeats_its_hello_gets_one_verdict() -> None:
    front = ready_front()
    front.hello(b"1")
    front.heard()
    front.hello(b"2", BOB)
    front.hello(b"2", BOB)
    assert [type(message) for _, _, message in front.heard()] == [Probe]
    front.pass_ms(300)
    assert isinstance(only(front, b"2"), Welcome)


def test_a_third_client_is_refused_while_the_holder_is_being_asked() -> None:
    front = ready_front()
    front.hello(b"1")
    front.hello(b"2", BOB)
    front.heard()
    front.hello(b"3", "c" * 16)
    assert only(front, b"3").code == "session"


def test_a_holder_that_comes_back_during_the_probe_keeps_its_name() -> None:
    front = ready_front()
    front.hello(b"1")
    front.hello(b"2", BOB)
    front.hello(b"3", ALICE)
    front.heard()
    front.pass_ms(300)
    assert only(front, b"2").code == "session"


def test_a_name_is_free_after_goodbye() -> None:
    front = ready_front()
    front.hello(b"1")
    front.say(b"1", Goodbye("robot"))
    front.heard()
    front.hello(b"2", BOB)
    assert isinstance(only(front, b"2"), Welcome)


def test_nobody_answers_a_probe_for_somebody_else() -> None:
    front = ready_front()
    front.hello(b"1")
    front.hello(b"2", BOB)
    front.heard()
    front.say(b"3", ProbeAnswer("robot", ALICE), 5)
    assert only(front, b"3").code == "session"
    front.say(b"1", ProbeAnswer("robot", BOB), 0)
    assert front.heard() == []
    front.pass_ms(300)
    assert isinstance(only(front, b"2"), Welcome)


@pytest.mark.parametrize("message", [Ping("robot", 1), Goodbye("robot"), observation()], ids=lambda m: type(m).__name__)
def test_without_a_hello_nothing_is_done(message: Any) -> None:
    front = ready_front()
    front.say(b"1", message)
    reply = only(front, b"1")
    assert reply.code == "session" and "hello" in reply.remedy
    assert front.schedule.take(0.0) is None


def test_work_of_a_lost_session_is_dropped_and_not_given_to_the_next_holder() -> None:
    """B03 (a): the new client receives only answers to its own requests."""
    front = ready_front()
    front.hello(b"1")
    front.say(b"1", observation(), 5)
    front.gone.add(b"1")
    front.hello(b"2", BOB)
    front.heard()
    assert front.schedule.take(0.0) is None
    assert front.desk.counters.orphaned == 1


def test_a_full_table_refuses_newcomers_but_forgets_a_client_that_went_quiet() -> None:
    front = ready_front()
    for i in range(MAX_SESSIONS):
        front.hello(bytes([i]), session=f"robot{i}")
    front.heard()
    front.hello(b"new", session="one-more")
    assert "at most" in only(front, b"new").expected
    front.now_ns = STALE_NS
    front.say(bytes([0]), Ping("robot0", 1))
    front.heard()
    front.hello(b"new", session="one-more")
    assert isinstance(only(front, b"new"), Welcome)
    front.say(bytes([0]), Ping("robot0", 2))
    assert isinstance(only(front, bytes([0])), Pong)


def test_a_newcomer_that_wins_a_name_when_the_table_is_full_again_is_refused() -> None:
    """B03: its holder said goodbye during the probe and another client took the place; the error ended the server."""
    front = ready_front()
    for i in range(MAX_SESSIONS):
        front.hello(bytes([i]), session=f"robot{i}")
    front.hello(b"new", BOB, session="robot0", request_id=9)
    front.say(bytes([0]), Goodbye("robot0"))
    front.hello(b"other", session="one-more")
    front.heard()
    front.pass_ms(300)
    ((peer, request_id, reply),) = front.heard()
    assert (peer, request_id) == (b"new", 9)
    assert isinstance(reply, ErrorReply) and "at most" in reply.expected


def test_a_reply_that_reaches_nobody_is_counted() -> None:
    front = ready_front()
    front.gone.add(b"1")
    front.hello(b"1")
    assert front.desk.counters.unreachable == 1


def test_skips_are_answered_to_the_request_that_was_superseded() -> None:
    front = ready_front()
    front.hello(b"1")
    front.heard()
    front.say(b"1", observation(sequence=1), 5)
    front.say(b"1", observation(sequence=2), 6)
    ((_, request_id, reply),) = front.heard()
    assert request_id == 5
    assert reply == Skipped("robot", 2, 1, "superseded by sequence 2")
    assert front.next_job().request_id == 6
