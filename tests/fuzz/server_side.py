"""A server under mutants, over a real socket: it lives, says why, and answers the next good request."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import zmq

from contract.codec import decode
from contract.messages import ErrorReply, Ping, Pong
from contract.types import ActionChunk
from policy_server.server.background import background_server
from policy_server.server.counters import Counters
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from policy_server.server.visitor import Visitor, visit
from tests.contract.messages_of_all_kinds import observation
from tests.fuzz.mutate import mutant
from tests.policy_server.server.raw_peer import RawPeer, raw_peer
from tests.waiting import PATIENCE_S

BATCH = 200
"""Mutants between two good requests."""


@dataclass
class Outcome:
    """What became of the mutants."""

    sent: int = 0
    good_requests: int = 0
    replies: Counter[str] = field(default_factory=Counter)
    """By kind of message, error replies by their code."""
    counters: dict[str, int] = field(default_factory=dict)
    """The server's own, at the end."""


def fuzz_server(messages: int, seed: int = 0) -> Outcome:
    """Send mutants to a scripted server. Raises when it stops answering or sends what is no message."""
    rng, outcome = random.Random(seed), Outcome()
    with (
        background_server(_policy) as server,
        visit(server.endpoint, PATIENCE_S) as guest,
        raw_peer(server.endpoint) as peer,
    ):
        peer.hello("robot")
        while outcome.sent < messages:
            for _ in range(BATCH):
                outcome.sent += 1
                _say(peer, mutant(rng, outcome.sent), outcome)
            _hear(peer, outcome)
            _good_request(guest, outcome)
        _wait_for_all(peer, server.server.counters, outcome)
        outcome.counters = asdict(server.server.counters)
        if server.failure is not None:
            raise server.failure
    return outcome


def _wait_for_all(peer: RawPeer, counters: Counters, outcome: Outcome) -> None:
    """The good requests come by another connection and overtake mutants that still lie in the queues of this one."""
    until_s = time.monotonic() + PATIENCE_S
    while counters.received < outcome.sent and time.monotonic() < until_s:
        _hear(peer, outcome, wait_ms=20)
    _hear(peer, outcome)


def _policy() -> ScriptedPolicy:
    return ScriptedPolicy(Script(info=scripted_info(4, 6, vocabulary=("put", "the", "cube"))))


def _say(peer: RawPeer, frames: list[bytes], outcome: Outcome) -> None:
    """Send without waiting for ever: while the server's queue is full, its replies are taken."""
    while True:
        try:
            peer.socket.send_multipart(frames, zmq.NOBLOCK)
            return
        except zmq.Again:
            _hear(peer, outcome, wait_ms=10)


def _hear(peer: RawPeer, outcome: Outcome, wait_ms: int = 0) -> None:
    while peer.socket.poll(wait_ms):
        message = decode(peer.socket.recv_multipart()).message
        kind = f"error {message.code}" if isinstance(message, ErrorReply) else type(message).__name__
        outcome.replies[kind] += 1


def _good_request(guest: Visitor, outcome: Outcome) -> None:
    outcome.good_requests += 1
    pong = guest.ask(Ping(guest.session, outcome.good_requests), PATIENCE_S)
    if not isinstance(pong, Pong):
        raise AssertionError(f"no pong after {outcome.sent} mutants: {pong}")
    answer: Any = guest.ask(observation(sequence=outcome.good_requests, session=guest.session), PATIENCE_S)
    if not isinstance(answer, ActionChunk):
        raise AssertionError(f"no chunk after {outcome.sent} mutants: {answer}")
