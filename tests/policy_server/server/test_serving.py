"""The server over real sockets: what it answers, and what cannot end it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zmq
from numpy.typing import NDArray

from contract.bodies import Message
from contract.codec import encode
from contract.errors import BundleError, ConfigurationError, EngineError
from contract.messages import ErrorReply, Ping, Pong
from contract.types import ActionChunk, ImaginedFrames, ImagineRequest, Observation, Skipped
from contract.wire import MAX_ARRAY_BYTES
from policy_server.server.background import ANY_PORT, background_server
from policy_server.server.scripted_policy import Script, ScriptedPolicy, numbered_rows, scripted_info
from policy_server.server.service import open_server
from policy_server.server.settings import ServeSettings
from policy_server.server.visitor import Visitor, visit
from tests.contract.messages_of_all_kinds import observation
from tests.contract.test_wire import hostile
from tests.gate import Gate
from tests.policy_server.server.raw_peer import RawPeer, raw_peer
from tests.waiting import PATIENCE_S

SMALL = scripted_info(4, 6, vocabulary=("put", "the", "cube"))


def scripted(**script: object) -> ScriptedPolicy:
    return ScriptedPolicy(Script(info=SMALL, **script))  # type: ignore[arg-type]


def gated(gate: Gate, **script: object) -> Callable[[], ScriptedPolicy]:
    """A policy whose replans wait at the gate."""
    return lambda: ScriptedPolicy(Script(info=SMALL, latency_s=1.0, **script), gate)  # type: ignore[arg-type]


def ask(guest: Visitor, sequence: int = 1, **changes: object) -> Message:
    return guest.ask(observation(sequence=sequence, session=guest.session, **changes), PATIENCE_S)


def was_heard(peer: RawPeer, session: str = "robot") -> bool:
    """Whether the server has taken everything that the peer said before; it answers a ping at once."""
    peer.say(Ping(session, 1), 4242)
    return peer.hear().request_id == 4242


def test_every_row_of_an_answer_carries_its_own_number() -> None:
    with background_server(scripted) as server, visit(server.endpoint, PATIENCE_S) as guest:
        answer = ask(guest)
        assert isinstance(answer, ActionChunk)
        assert answer.rows[:, 0].tolist() == list(range(20, 34))


@pytest.mark.parametrize("fault", ["raise", "crash", "nan", "shape"])
def test_a_failing_engine_gives_a_typed_error_and_the_next_good_request_is_answered(
    fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    """B23 and B05: NaN, an exception nobody planned, or rows that are missing never reach a robot."""
    policy = lambda: scripted(faults={1: fault})  # noqa: E731
    with background_server(policy) as server, visit(server.endpoint, PATIENCE_S) as guest:
        assert isinstance(ask(guest, 1), ActionChunk)
        refusal = ask(guest, 2)
        assert isinstance(refusal, ErrorReply) and refusal.code == "engine"
        assert ("ZeroDivisionError" in caplog.text) == (fault == "crash"), "an unplanned exception is logged whole"
        pong = guest.ask(Ping(guest.session, 1), PATIENCE_S)
        assert isinstance(pong, Pong) and pong.state == "FAULT"
        assert isinstance(ask(guest, 3), ActionChunk)
        assert server.server.state == "READY"
        assert server.server.counters.engine_faults == 1


def test_a_nan_is_refused_with_row_and_joint() -> None:
    """B23."""
    policy = lambda: scripted(faults={0: "nan"})  # noqa: E731
    with background_server(policy) as server, visit(server.endpoint, PATIENCE_S) as guest:
        refusal = ask(guest)
        assert isinstance(refusal, ErrorReply)
        assert "row 21, left_joint4" in refusal.what


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"joints": np.zeros(13, np.float32)}, "field", "joints"),
        ({"joints": np.zeros(14)}, "field", "joints"),
        ({"images": {"top": np.zeros((4, 6, 3), np.uint8)}, "image_stamps_ns": {"top": 1}}, "field", "camera roles"),
        ({"instruction": "fly home"}, "vocabulary", "instruction"),
        ({"session": "somebody"}, "session", "somebody"),
    ],
)
def test_a_wrong_observation_is_answered_with_the_field_and_a_good_one_after_it(
    changes: dict[str, object], code: str, words: str
) -> None:
    with background_server(scripted) as server, visit(server.endpoint, PATIENCE_S) as guest:
        asked = observation(**{"session": guest.session, **changes})
        refusal = guest.ask(asked, PATIENCE_S)
        assert isinstance(refusal, ErrorReply)
        assert refusal.code == code and words in refusal.what and refusal.remedy
        assert isinstance(ask(guest), ActionChunk)


def resident_mb() -> float:
    """Resident memory of this process, server included."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def test_hostile_bytes_run_nothing_and_leave_the_server_answering(tmp_path: Path) -> None:
    """B05: pickles, object dtypes, absurd sizes, 1000 random messages; each is answered or counted, memory bounded."""
    marker, rng = tmp_path / "marker", random.Random(1)
    with background_server(scripted) as server, visit(server.endpoint, PATIENCE_S) as guest:
        ask(guest)
        before_mb = resident_mb()
        with raw_peer(server.endpoint) as peer:
            for frames in hostile(marker):
                if frames and sum(map(len, frames)) < MAX_ARRAY_BYTES:
                    peer.send(frames)
            for _ in range(1000):
                peer.send([rng.randbytes(rng.randrange(300)) for _ in range(rng.randrange(1, 6))])
            peer.say(Ping("nobody", 1), 4242)
            while peer.hear().request_id != 4242:  # everything before it was handled
                pass
        assert isinstance(ask(guest, 2), ActionChunk)
        counters = server.server.counters
        assert counters.unreadable + counters.refused >= 1000
        assert resident_mb() - before_mb < 100
    assert not marker.exists()


def test_a_frame_beyond_the_limit_costs_its_sender_the_connection_and_nobody_else_anything() -> None:
    """B05: 300 MB of zeros."""
    with background_server(scripted) as server, visit(server.endpoint, PATIENCE_S) as guest:
        before_mb = resident_mb()
        zeros = np.zeros(300_000_000, np.uint8)  # untouched pages cost no memory
        with raw_peer(server.endpoint) as peer:
            monitor = peer.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            peer.send([zeros.data])
            assert monitor.poll(PATIENCE_S * 1e3), "the server must end the connection"
            monitor.close()
            peer.socket.disable_monitor()
        assert isinstance(ask(guest), ActionChunk)
        assert resident_mb() - before_mb < 100


def test_more_frames_than_a_message_may_have_are_refused_by_id() -> None:
    with background_server(scripted) as server, raw_peer(server.endpoint) as peer:
        peer.send([encode(Ping("robot", 1), 3)[0], *[b""] * 500])
        reply = peer.hear()
        assert reply.request_id == 3
        assert isinstance(reply.message, ErrorReply) and reply.message.code == "codec"


def test_pings_never_wait_for_the_engine() -> None:
    gate = Gate()
    with background_server(gated(gate)) as server, raw_peer(server.endpoint) as peer:
        peer.hello()
        peer.say(observation(), 2)
        assert gate.entered()
        for sequence in range(5):
            peer.say(Ping("robot", sequence), 100 + sequence)
            assert peer.hear().request_id == 100 + sequence
        gate.open()
        assert isinstance(peer.hear().message, ActionChunk)


def test_of_a_burst_the_newest_is_answered_and_every_other_one_is_skipped() -> None:
    """B04: oldest-first service. Request 1 is in the engine when the others come."""
    gate = Gate()
    with background_server(gated(gate)) as server, raw_peer(server.endpoint) as peer:
        peer.hello()
        peer.say(observation(sequence=1), 1)
        assert gate.entered()
        for sequence in range(2, 8):
            peer.say(observation(sequence=sequence), sequence)
        skipped = [peer.hear() for _ in range(5)]
        gate.open()
        replies = [*skipped, peer.hear(), peer.hear()]
        assert sorted(reply.request_id for reply in replies) == list(range(1, 8))
        chunks = [reply.message.sequence for reply in replies if isinstance(reply.message, ActionChunk)]
        skips = [reply.message.sequence for reply in replies if isinstance(reply.message, Skipped)]
        assert (chunks, skips) == ([1, 7], [2, 3, 4, 5, 6])
        assert server.server.counters.superseded == 5


def test_replans_run_between_the_passes_of_an_imagination() -> None:
    gate = Gate()
    with background_server(gated(gate)) as server, raw_peer(server.endpoint) as peer:
        peer.hello()
        peer.say(ImagineRequest(observation(), 4), 7)
        assert gate.entered()
        peer.say(observation(sequence=2), 8)
        assert was_heard(peer)
        gate.open()
        first, second = peer.hear(), peer.hear()
        assert (first.request_id, second.request_id) == (8, 7)
        assert isinstance(first.message, ActionChunk) and isinstance(second.message, ImaginedFrames)


def test_an_observation_whose_budget_is_over_before_its_turn_is_skipped() -> None:
    gate = Gate()
    with background_server(gated(gate)) as server, raw_peer(server.endpoint) as peer:
        peer.hello()
        peer.say(observation(), 2)
        assert gate.entered()
        peer.say(observation(sequence=2, budget_ns=20_000_000), 3)
        assert was_heard(peer)
        time.sleep(0.03)  # the budget
        gate.open()
        assert isinstance(peer.hear().message, ActionChunk)
        late = peer.hear().message
        assert isinstance(late, Skipped) and "budget of 20 ms" in late.reason


def test_one_flooding_client_does_not_keep_another_from_its_answers() -> None:
    """It looked at the clock; what counts is who is served before. All questions are there when the engine goes on."""
    gate, turns = Gate(), list[str]()

    def rows(asked: Observation, count: int) -> NDArray:
        turns.append(asked.session)
        return numbered_rows(asked, count)

    with (
        background_server(gated(gate, rows=rows)) as server,
        raw_peer(server.endpoint) as flood,
        raw_peer(server.endpoint) as calm,
    ):
        flood.hello("flood", "f" * 16)
        calm.hello("calm", "c" * 16)
        for round_ in range(10):
            gate.shut()
            for i in range(20):
                flood.say(observation(session="flood", sequence=20 * round_ + i), 1000 + i)
            assert gate.entered(len(turns) + 1)
            calm.say(observation(session="calm", sequence=round_), 2000 + round_)
            assert was_heard(calm, "calm")
            before = len(turns)
            gate.open()
            assert isinstance(calm.hear().message, ActionChunk)
            assert "calm" in turns[before : before + 3], "behind the one in the engine and one that waits"


def test_a_policy_that_cannot_be_loaded_ends_the_server_with_its_error() -> None:
    def load() -> ScriptedPolicy:
        raise BundleError("weights", expected="all", got="half", remedy="copy them again")

    with background_server(load) as server:
        assert server.wait(PATIENCE_S)
        assert isinstance(server.failure, BundleError)


def test_an_exception_nobody_planned_while_loading_is_a_typed_error_too() -> None:
    def load() -> ScriptedPolicy:
        raise MemoryError("no room")

    with background_server(load) as server:
        assert server.wait(PATIENCE_S)
        assert isinstance(server.failure, EngineError)
        assert "MemoryError: no room" in str(server.failure)


def test_an_engine_that_hangs_is_reported_to_its_client_and_ends_the_server() -> None:
    settings, gate = ServeSettings(bind=ANY_PORT, hang_s=0.2), Gate()
    with background_server(gated(gate), settings) as server, raw_peer(server.endpoint) as peer:
        peer.hello()
        peer.say(observation(), 2)
        reply = peer.hear()
        assert isinstance(reply.message, ErrorReply)
        assert (reply.request_id, reply.message.code) == (2, "engine")
        assert reply.message.expected == "an answer within 0.2 s"
        assert server.wait(PATIENCE_S)
        assert isinstance(server.failure, EngineError)
        gate.open()


def test_while_loading_a_hello_is_told_so_and_later_welcomed() -> None:
    gate = Gate()
    with background_server(gated(gate, load_s=1.0)) as server:
        with raw_peer(server.endpoint) as peer:
            answer = peer.greet()
            assert isinstance(answer, ErrorReply) and answer.code == "busy"
        gate.open()
        with visit(server.endpoint, PATIENCE_S) as guest:
            assert guest.info.state == "READY"


def test_an_address_in_use_is_refused_in_one_line() -> None:
    with background_server(scripted) as server:
        with pytest.raises(ConfigurationError, match="free address") as caught:
            open_server(scripted, ServeSettings(bind=server.endpoint))
        assert server.endpoint in str(caught.value)
