"""One session name, several clients (B03 a, b)."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from contract import errors as e
from contract.bodies import Message
from contract.codec import encode
from contract.messages import ErrorReply, Hello, Probe, ProbeAnswer, Welcome
from contract.types import ActionChunk
from policy_server.server.background import background_server
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from robot_client.link.proxy import tcp_proxy
from tests.contract.messages_of_all_kinds import observation, server_info
from tests.robot_client.link.fake_server import Send, fake_server
from tests.robot_client.link.links import link_to, poll_until

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
    """B03 (a): killed while the server is inside an inference, restarted with the same name 100 ms later."""
    with background_server(lambda: scripted(latency_s=0.7)) as server:
        child = subprocess.Popen((sys.executable, "-c", CLIENT, server.endpoint), stdout=subprocess.PIPE, text=True)
        try:
            assert child.stdout is not None and child.stdout.readline() == "asked\n"
            time.sleep(0.05)
            child.send_signal(signum)
            time.sleep(0.1)
            with link_to(server.endpoint) as link:
                begin_s = time.monotonic()
                link.connect()
                assert time.monotonic() - begin_s < 1.0
                request_id = link.submit(observation(sequence=2))
                answers = poll_until(link, lambda answers: bool(answers))
                assert [answer.asked.request_id for answer in answers] == [request_id]
                assert isinstance(answers[0].outcome, ActionChunk) and answers[0].outcome.sequence == 2
                assert (link.counters.late, link.counters.unreadable) == (0, 0)
            assert server.server.counters.orphaned == 1
        finally:
            child.kill()
            child.communicate(timeout=5)


def test_a_second_live_client_is_refused_within_a_second_and_the_first_loses_no_chunk() -> None:
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
                begin_s = time.monotonic()
                with pytest.raises(e.SessionError, match=r"session name robot.*which answers") as caught:
                    second.connect()
                assert time.monotonic() - begin_s < 1.0
                assert "choose another session name" in str(caught.value)
                assert second.state == "REFUSED"
        finally:
            time.sleep(0.1)
            stop.set()
            driver.join(5)
        assert got == list(range(1, len(got) + 1)) and len(got) > 3
        assert (first.state, first.counters.probes, first.counters.failed) == ("READY", 1, 0)


def test_a_client_behind_a_dead_network_loses_its_name_and_is_told_so_when_it_returns() -> None:
    with background_server(scripted) as server, tcp_proxy(server.endpoint) as proxy, link_to(proxy.address) as first:
        first.connect()
        proxy.weather.frozen = True
        with link_to(server.endpoint) as second:
            assert second.connect().model_id == "scripted"
            stop = threading.Event()
            alive = threading.Thread(target=lambda: [second.poll(0.02) for _ in iter(stop.is_set, True)])
            alive.start()
            try:
                proxy.weather.frozen = False
                poll_until(first, lambda answers: first.state == "REFUSED")
                assert isinstance(first.refusal, e.SessionError)
            finally:
                stop.set()
                alive.join(5)
            assert isinstance(second.wait_for(second.submit(observation())), ActionChunk)


def test_a_client_that_closed_leaves_its_name_at_once() -> None:
    with background_server(scripted) as server:
        for _ in range(3):
            with link_to(server.endpoint) as link:
                begin_s = time.monotonic()
                link.connect()
                assert time.monotonic() - begin_s < 0.25  # no probe of 300 ms


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
