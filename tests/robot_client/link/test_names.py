"""One session name, several clients (B03 a, b)."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

from contract import errors as e
from contract.bodies import Message
from contract.codec import encode
from contract.messages import ErrorReply, Hello, Probe, ProbeAnswer, Welcome
from contract.types import ActionChunk
from policy_server.server import doorman
from policy_server.server.background import background_server
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from robot_client.link.proxy import tcp_proxy
from tests.contract.messages_of_all_kinds import observation, server_info
from tests.gate import Gate
from tests.robot_client.link.fake_server import Send, fake_server
from tests.robot_client.link.links import link_to, poll_until
from tests.waiting import PATIENCE_S, until

LONG_PROBE_NS = 40_000_000_000
CLIENT = """
import sys
from tests.contract.messages_of_all_kinds import observation
from tests.robot_client.link.links import link_to
with link_to(sys.argv[1]) as link:
    link.connect()
    link.submit(observation(sequence=1), 10000.0)
    print("asked", flush=True)
    while True:
        link.poll(0.05)
"""


def scripted(**script: Any) -> ScriptedPolicy:
    return ScriptedPolicy(Script(**{"info": scripted_info(4, 6), **script}))


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGSTOP])
def test_a_killed_or_frozen_client_is_replaced_and_its_answer_never_reaches_the_next_one(
    signum: signal.Signals,
) -> None:
    """B03 (a): killed while the server is inside an inference, restarted with the same name."""
    gate = Gate()
    policy = lambda: ScriptedPolicy(Script(info=scripted_info(4, 6), latency_s=1.0), gate)  # noqa: E731
    with background_server(policy) as server:
        child = subprocess.Popen((sys.executable, "-c", CLIENT, server.endpoint), stdout=subprocess.PIPE, text=True)
        try:
            assert child.stdout is not None and child.stdout.readline() == "asked\n"
            assert gate.entered()
            child.send_signal(signum)
            with link_to(server.endpoint) as link:
                link.connect()
                gate.open()
                request_id = link.submit(observation(sequence=2))
                answers = poll_until(link, lambda answers: bool(answers))
                assert [answer.asked.request_id for answer in answers] == [request_id]
                assert isinstance(answers[0].outcome, ActionChunk) and answers[0].outcome.sequence == 2
                assert (link.counters.late, link.counters.unreadable) == (0, 0)
            assert server.server.counters.orphaned == 1
        finally:
            child.kill()
            child.communicate(timeout=PATIENCE_S)


@pytest.fixture
def long_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A holder that stands still with the machine for more than 300 ms is no dead one."""
    monkeypatch.setattr(doorman, "PROBE_NS", LONG_PROBE_NS)


def test_a_second_live_client_is_refused_and_the_first_loses_no_chunk(long_probe: None) -> None:
    """B03 (b)."""
    with background_server(lambda: scripted(latency_s=0.02)) as server, link_to(server.endpoint) as first:
        first.connect()
        got: list[int] = []
        stop = threading.Event()

        def drive() -> None:
            sequence = 0
            while not stop.is_set():
                sequence += 1
                got.append(first.wait_for(first.submit(observation(sequence=sequence))).sequence)

        driver = threading.Thread(target=drive)
        driver.start()
        try:
            with link_to(server.endpoint) as second:
                with pytest.raises(e.SessionError, match=r"session name robot.*which answers") as caught:
                    second.connect()
                assert "choose another session name" in str(caught.value)
                assert second.state == "REFUSED"
        finally:
            assert until(lambda: len(got) > 3)
            stop.set()
            driver.join(PATIENCE_S)
        assert got == list(range(1, len(got) + 1))
        assert (first.state, first.counters.probes, first.counters.failed) == ("READY", 1, 0)


def test_a_client_behind_a_dead_network_loses_its_name_and_is_told_so_when_it_returns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with background_server(scripted) as server, tcp_proxy(server.endpoint) as proxy, link_to(proxy.address) as first:
        first.connect()
        proxy.weather.frozen = True
        with link_to(server.endpoint) as second:
            assert second.connect().model_id == "scripted"
            monkeypatch.setattr(doorman, "PROBE_NS", LONG_PROBE_NS)
            stop = threading.Event()
            alive = threading.Thread(target=lambda: [second.poll(0.02) for _ in iter(stop.is_set, True)])
            alive.start()
            try:
                proxy.weather.frozen = False
                poll_until(first, lambda answers: first.state == "REFUSED")
                assert isinstance(first.refusal, e.SessionError)
            finally:
                stop.set()
                alive.join(PATIENCE_S)
            assert isinstance(second.wait_for(second.submit(observation())), ActionChunk)


def test_a_client_that_closed_leaves_its_name_at_once(long_probe: None) -> None:
    with background_server(scripted) as server:
        for _ in range(3):
            with link_to(server.endpoint) as link:
                link.connect(LONG_PROBE_NS / 2e6)  # no probe


def test_two_names_share_one_server() -> None:
    with (
        background_server(scripted) as server,
        link_to(server.endpoint, "left") as left,
        link_to(server.endpoint, "right") as right,
    ):
        left.connect()
        right.connect()
        for sequence in range(5):
            one = left.submit(observation(sequence=sequence, session="left"))
            two = right.submit(observation(sequence=100 + sequence, session="right"))
            assert left.wait_for(one).session == "left"
            assert right.wait_for(two).sequence == 100 + sequence


def test_a_holder_whose_answer_to_a_probe_came_too_late_says_hello_again() -> None:
    """The error on that answer carries id 0, as no hello does; it was taken for a refusal, and the link gave up."""
    helloes: list[int] = []

    def late(message: Message, request_id: int, send: Send) -> bool:
        if isinstance(message, Hello):
            helloes.append(request_id)
            send(encode(Welcome(server_info()), request_id))
            if len(helloes) == 1:
                send(encode(Probe(message.session), 0))
        elif isinstance(message, ProbeAnswer):
            send(encode(ErrorReply("session", "session robot", "a hello first", "no session", "say hello"), 0))
        return isinstance(message, Hello | ProbeAnswer)

    with fake_server(server_info(), late) as server, link_to(server.endpoint) as link:
        link.connect()
        poll_until(link, lambda answers: len(helloes) == 2 and link.state == "READY")
        assert link.refusal is None
