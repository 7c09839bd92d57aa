"""Frozen, cut and restarted: the link says what is the matter and comes back by itself (B01, B03 c)."""

from __future__ import annotations

import itertools
import logging
import time
from dataclasses import replace
from typing import Any

import pytest

from contract import errors as e
from contract.types import ActionChunk, Skipped
from policy_server.server.background import background_server
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from policy_server.server.settings import ServeSettings
from robot_client.link.asked import Answer
from robot_client.link.backoff import FIRST_NS, LONGEST_NS, Backoff
from robot_client.link.policy_link import PolicyLink
from robot_client.link.proxy import tcp_proxy
from tests.contract.messages_of_all_kinds import observation
from tests.gate import Gate
from tests.robot_client.link.links import PATIENT, PushedClock, free_port, link_to, poll_until
from tests.waiting import until


def scripted(**script: Any) -> ScriptedPolicy:
    return ScriptedPolicy(Script(**{"info": scripted_info(4, 6), **script}))


def poll_for(link: PolicyLink, seconds: float) -> None:
    """Let the link work, however slow the machine is."""
    for _ in range(round(seconds / 0.01)):
        link.poll(0.01)


def test_pauses_grow_to_a_second_and_start_over_after_a_success() -> None:
    backoff = Backoff()
    pauses = [backoff.pause_ns() for _ in range(8)]
    assert pauses[0] == FIRST_NS and pauses[-1] == LONGEST_NS
    assert all(before <= after <= 2 * before for before, after in itertools.pairwise(pauses))
    backoff.reset()
    assert backoff.pause_ns() == FIRST_NS


def test_a_frozen_network_makes_the_link_silent_and_it_recovers_without_a_new_session() -> None:
    clock, silent_s = PushedClock(), PATIENT.silent_ms / 1e3
    with (
        background_server(scripted) as server,
        tcp_proxy(server.endpoint) as proxy,
        link_to(proxy.address, clock=clock) as link,
    ):
        link.connect()
        proxy.weather.frozen = True
        poll_for(link, 0.1)  # what was on its way
        clock.push(0.6 * silent_s)
        poll_for(link, 0.1)
        assert link.state == "READY"
        clock.push(0.6 * silent_s)
        poll_until(link, lambda answers: link.state == "SILENT")
        proxy.weather.frozen = False
        poll_until(link, lambda answers: link.state == "READY")
        assert link.counters.connections == 1
        assert isinstance(link.wait_for(link.submit(observation())), ActionChunk)


def test_a_network_frozen_for_long_gets_a_new_connection() -> None:
    clock = PushedClock()
    with (
        background_server(scripted) as server,
        tcp_proxy(server.endpoint) as proxy,
        link_to(proxy.address, clock=clock) as link,
    ):
        link.connect()
        proxy.weather.frozen = True
        poll_for(link, 0.1)  # what was on its way
        clock.push(3.1 * PATIENT.silent_ms / 1e3)
        poll_until(link, lambda answers: link.state == "CONNECTING")
        with pytest.raises(e.LinkError, match="CONNECTING"):
            link.submit(observation())
        proxy.weather.frozen = False
        poll_until(link, lambda answers: link.state == "READY")
        assert isinstance(link.wait_for(link.submit(observation())), ActionChunk)
        assert link.counters.connections == 2


def test_a_cut_connection_ends_what_was_asked_and_is_replaced() -> None:
    """The first question is in the engine until the link has a new connection."""
    gate = Gate()
    policy = lambda: ScriptedPolicy(Script(info=scripted_info(4, 6), latency_s=1.0), gate)  # noqa: E731
    with (
        background_server(policy) as server,
        tcp_proxy(server.endpoint) as proxy,
        link_to(proxy.address) as link,
    ):
        link.connect()
        request_id = link.submit(observation())
        assert link.poll() == [] and gate.entered()
        proxy.cut()
        with pytest.raises(e.LinkError, match="connection was lost"):
            link.wait_for(request_id)
        poll_until(link, lambda answers: link.state == "READY")
        gate.open()
        answer = link.wait_for(link.submit(observation(sequence=2)))
        assert answer.sequence == 2
        assert server.server.counters.orphaned == 1


def test_a_slow_network_only_delays_answers() -> None:
    with background_server(scripted) as server, tcp_proxy(server.endpoint) as proxy:
        proxy.weather.delay_s = 0.05
        with link_to(proxy.address) as link:
            link.connect()
            begin_s = time.monotonic()
            assert isinstance(link.wait_for(link.submit(observation())), ActionChunk)
            assert time.monotonic() - begin_s > 0.1


def test_replies_dropped_by_the_network_are_given_up_in_time_and_the_link_goes_on() -> None:
    """B01 (c), at the level of the network."""
    budgets, clock = replace(PATIENT, heartbeat_ms=600_000), PushedClock()
    with (
        background_server(scripted) as server,
        tcp_proxy(server.endpoint) as proxy,
        link_to(proxy.address, budgets=budgets, clock=clock) as link,
    ):
        link.connect()
        link.poll()  # the one ping; its pong comes before the answer
        assert isinstance(link.wait_for(link.submit(observation(sequence=1))), ActionChunk)
        proxy.weather.dropping = True
        request_id = link.submit(observation(sequence=2))
        assert until(lambda: link.poll() == [] and server.server.counters.replans == 2)
        poll_for(link, 0.2)  # on its way from the server to the proxy
        clock.push(PATIENT.reply_ms / 1e3)
        with pytest.raises(e.LinkTimeoutError):
            link.wait_for(request_id)
        proxy.weather.dropping = False
        assert isinstance(link.wait_for(link.submit(observation(sequence=3))), ActionChunk)


def test_twenty_restarts_of_the_server_lose_no_request_without_saying_so(caplog: pytest.LogCaptureFixture) -> None:
    """B03 (c): indices of executed chunks strictly rising, none repeated, none missing without a line."""
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    asked: list[int] = []
    ended: list[Answer] = []

    def is_chunk(answer: Answer) -> bool:
        return isinstance(answer.outcome, ActionChunk)

    with caplog.at_level(logging.INFO, "robot_client.link"), link_to(endpoint) as link:

        def ask_next(seconds: float) -> list[Answer]:
            asked.append(len(asked))
            link.submit(observation(sequence=asked[-1]))
            return link.poll(seconds)

        link.open()
        for _ in range(20):
            with background_server(lambda: scripted(latency_s=0.01), ServeSettings(bind=endpoint)):
                answers = poll_until(link, lambda answers: link.state == "READY")
                for _ in range(5):
                    answers += ask_next(0.02)
                answers += poll_until(link, lambda more, before=answers: any(map(is_chunk, [*before, *more])))
                ended += answers + ask_next(0.0)  # and one that the end may overtake
            ended += poll_until(link, lambda answers: link.state != "READY")
        ended += link.poll()
    chunks = [answer.outcome.sequence for answer in ended if isinstance(answer.outcome, ActionChunk)]
    named = [answer for answer in ended if isinstance(answer.outcome, Skipped | e.StackError)]
    assert sorted(answer.asked.observation.sequence for answer in ended) == asked
    assert len(chunks) + len(named) == len(asked)
    assert chunks == sorted(set(chunks)) and len(chunks) >= 20
    assert sum("session robot with" in line for line in caplog.messages) == 20


def test_a_reply_still_on_its_way_after_a_restart_is_not_taken_for_an_answer() -> None:
    """B03 (c): ids are never used twice in a process, whatever the connection."""
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    with link_to(endpoint) as link:
        ids = []
        for _ in range(3):
            with background_server(scripted, ServeSettings(bind=endpoint)):
                poll_until(link, lambda answers: link.state == "READY") if ids else link.connect()
                ids.append(link.submit(observation()))
                link.wait_for(ids[-1])
            poll_until(link, lambda answers: link.state != "READY")
        assert ids == sorted(set(ids))
