"""Questions and reports: what is queued, refused, skipped, delivered, and what the state says."""

from __future__ import annotations

from dataclasses import replace

import msgpack
import numpy as np
import pytest

from contract.codec import encode
from contract.errors import BundleError, EngineError, FieldError, VocabularyError
from contract.messages import ErrorReply, Ping, Pong, Probe
from contract.types import ActionChunk, ImaginedFrames, ImagineRequest, Skipped
from policy_server.server.reports import Answered, LoadFailed, Outrun, Refused
from tests.contract.messages_of_all_kinds import chunk, observation
from tests.policy_server.server.front import Front, ready_front


def with_question(request_id: int = 5) -> Front:
    front = ready_front()
    front.hello(b"1")
    front.say(b"1", observation(), request_id)
    front.heard()
    return front


def state_of(front: Front) -> str:
    """As a client sees it."""
    front.say(b"1", Ping("robot", 3), 99)
    ((_, request_id, pong),) = front.heard()
    assert isinstance(pong, Pong) and (request_id, pong.sequence) == (99, 3)
    return pong.state


def test_an_answer_goes_to_the_connection_and_request_that_asked() -> None:
    front = with_question()
    job = front.next_job()
    front.desk.report(Answered(job, encode(chunk(observation()), job.request_id)))
    ((peer, request_id, message),) = front.heard()
    assert (peer, request_id) == (b"1", 5)
    assert isinstance(message, ActionChunk)
    assert front.desk.counters.replans == 1


def test_an_answer_to_a_session_with_a_new_holder_is_dropped_and_counted() -> None:
    """B03 (a): the engine was in a 2 s call when the client was killed and came back."""
    front = with_question()
    job = front.next_job()
    front.gone.add(b"1")
    front.hello(b"2", "b" * 16)
    front.heard()
    front.desk.report(Answered(job, encode(chunk(observation()), job.request_id)))
    assert front.heard() == []
    assert front.desk.counters.orphaned == 1


def test_an_observation_that_is_not_as_agreed_is_refused_before_it_is_queued() -> None:
    front = ready_front()
    front.hello(b"1")
    front.heard()
    front.say(b"1", observation(joints=np.zeros(13, np.float32)), 5)
    ((_, request_id, reply),) = front.heard()
    assert request_id == 5
    assert isinstance(reply, ErrorReply) and reply.code == "field" and "joints" in reply.what
    assert front.schedule.take(0.0) is None


def test_a_bad_newer_observation_does_not_supersede_a_good_one() -> None:
    front = with_question()
    front.say(b"1", observation(sequence=2, branches=()), 6)
    assert [request_id for _, request_id, _ in front.heard()] == [6]
    assert front.next_job().request_id == 5


def test_a_message_that_only_servers_send_is_refused() -> None:
    front = ready_front()
    front.say(b"1", Probe("robot"), 5)
    ((_, _, reply),) = front.heard()
    assert isinstance(reply, ErrorReply) and reply.got == "probe"


def test_bytes_with_an_id_are_answered_and_bytes_without_are_counted() -> None:
    """B05."""
    front = ready_front()
    front.desk.handle(b"1", [msgpack.packb({"id": 8, "protocol": 1})], 0)
    ((_, request_id, reply),) = front.heard()
    assert request_id == 8 and isinstance(reply, ErrorReply) and reply.code == "codec"
    front.desk.handle(b"1", [b"junk"], 0)
    front.desk.handle(b"1", [], 0)
    assert front.heard() == []
    assert front.desk.counters.unreadable == 2


def test_another_protocol_number_is_answered_with_both_numbers() -> None:
    front = ready_front()
    header = msgpack.unpackb(encode(Ping("robot", 1), 4)[0])
    front.desk.handle(b"1", [msgpack.packb({**header, "protocol": 2})], 0)
    ((_, request_id, reply),) = front.heard()
    assert isinstance(reply, ErrorReply)
    assert (request_id, reply.code, reply.expected, reply.got) == (4, "version", "1", "2")


def test_a_fault_is_reported_by_the_next_pong_and_ended_by_the_next_good_answer() -> None:
    front = with_question()
    job = front.next_job()
    front.desk.report(Refused(job, EngineError("step 2", got="nan"), at_fault=True))
    ((_, request_id, reply),) = front.heard()
    assert request_id == 5 and isinstance(reply, ErrorReply) and reply.code == "engine"
    assert state_of(front) == "FAULT"
    front.say(b"1", observation(sequence=2), 6)
    job = front.next_job()
    front.desk.report(Answered(job, encode(chunk(observation(sequence=2)), job.request_id)))
    front.heard()
    assert state_of(front) == "READY"


@pytest.mark.parametrize("error", [FieldError("x"), VocabularyError("instruction", expected="put", got="fly")])
def test_a_request_that_cannot_be_answered_is_no_fault_of_the_engine(error: FieldError) -> None:
    front = with_question()
    front.desk.report(Refused(front.next_job(), error, at_fault=False))
    ((_, _, reply),) = front.heard()
    assert isinstance(reply, ErrorReply) and reply.code == error.code
    assert state_of(front) == "READY"


def test_a_fault_counts_even_when_its_client_is_gone() -> None:
    front = with_question()
    job = front.next_job()
    front.hello(b"2")
    front.heard()
    front.desk.report(Refused(job, EngineError("x"), at_fault=True))
    assert front.heard() == []
    assert front.desk.state == "FAULT"


def test_a_budget_that_was_over_before_its_turn_is_answered_skipped() -> None:
    front = ready_front()
    front.hello(b"1")
    front.say(b"1", observation(budget_ns=50_000_000), 5)
    front.heard()
    front.desk.report(Outrun(front.next_job(), 80_000_000))
    ((_, request_id, reply),) = front.heard()
    assert request_id == 5
    assert isinstance(reply, Skipped) and reply.reason == "waited 80 ms of a budget of 50 ms"
    assert front.desk.counters.too_late == 1


def test_a_policy_that_does_not_load_ends_the_server_with_its_own_error() -> None:
    with pytest.raises(BundleError, match="weights"):
        Front().desk.report(LoadFailed(BundleError("weights", got="cut short")))


def test_sessions_are_served_in_turn_however_many_one_of_them_sends() -> None:
    front = ready_front()
    for name in ("one", "two", "three"):
        front.hello(name.encode(), session=name)
    order = []
    for sequence in range(4):
        for name in ("one", "one", "one", "two", "three"):
            front.say(name.encode(), observation(sequence=sequence, session=name))
        order += [front.next_job().session.name for _ in range(3)]
    assert order == ["one", "two", "three"] * 4


def test_a_session_that_sends_again_keeps_its_place_in_the_queue() -> None:
    front = ready_front()
    for name in ("one", "two"):
        front.hello(name.encode(), session=name)
        front.say(name.encode(), observation(session=name))
    front.say(b"one", observation(session="one", sequence=2))
    assert [front.next_job().session.name for _ in range(2)] == ["one", "two"]


def test_imagination_waits_until_no_replan_does() -> None:
    front = ready_front()
    front.hello(b"1")
    front.say(b"1", ImagineRequest(observation(), 2), 5)
    front.say(b"1", observation(sequence=2), 6)
    assert [front.next_job().request_id for _ in range(2)] == [6, 5]


def test_imagined_frames_are_counted_apart() -> None:
    front = ready_front()
    front.hello(b"1")
    front.say(b"1", ImagineRequest(observation(), 2), 5)
    job = front.next_job()
    frames = ImaginedFrames("robot", 2, 1, np.zeros((3, 4, 6, 3), np.uint8), 1, {})
    front.desk.report(Answered(job, encode(frames, job.request_id)))
    assert (front.desk.counters.imagined, front.desk.counters.replans) == (1, 0)


def test_job_keeps_the_time_of_receipt() -> None:
    front = ready_front()
    front.hello(b"1")
    front.pass_ms(7)
    front.say(b"1", replace(observation(), sequence=4))
    assert front.next_job().received_ns == 7_000_000
