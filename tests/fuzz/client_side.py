"""A robot's link under mutants from its server: it lives, counts them, and takes the next good answer."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import asdict, dataclass, field

from contract.bodies import Message
from contract.codec import encode
from contract.errors import StackError
from contract.types import ActionChunk, Observation
from robot_client.link.policy_link import PolicyLink
from tests.contract.messages_of_all_kinds import chunk, observation, server_info
from tests.fuzz.mutate import mutant
from tests.robot_client.link.fake_server import Send, fake_server
from tests.robot_client.link.links import link_to

BATCH = 200
_TRIES = 5
_ELSEWHERE = 1 << 40
"""Request ids that were never given out."""


@dataclass
class Outcome:
    """What became of the mutants."""

    sent: int = 0
    good_answers: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """Requests that a mutant ended, by the type of the error."""
    counters: dict[str, int] = field(default_factory=dict)
    """The link's own, at the end."""


def fuzz_client(messages: int, seed: int = 0) -> Outcome:
    """Answer each observation with mutants before the chunk. Raises when no good answer gets through any more."""
    rng, outcome = random.Random(seed), Outcome()

    def mutants_first(message: Message, request_id: int, send: Send) -> bool:
        if not isinstance(message, Observation):
            return False
        for _ in range(BATCH):
            outcome.sent += 1
            # A few carry the id of the request itself; such a mutant may end it, with a typed error.
            send(mutant(rng, request_id if rng.random() < 0.001 else _ELSEWHERE + outcome.sent))
        send(encode(chunk(message), request_id))
        return True

    with fake_server(server_info(), mutants_first) as server, link_to(server.endpoint) as link:
        link.connect()
        sequence = 0
        while outcome.sent < messages:
            sequence = _good_answer(link, sequence, outcome)
        outcome.counters = asdict(link.counters)
    return outcome


def _good_answer(link: PolicyLink, sequence: int, outcome: Outcome) -> int:
    for _ in range(_TRIES):
        sequence += 1
        try:
            link.connect()
            answer = link.wait_for(link.submit(observation(sequence=sequence)))
        except StackError as error:
            outcome.errors[type(error).__name__] += 1
            continue
        if isinstance(answer, ActionChunk):
            outcome.good_answers += 1
            return sequence
        outcome.errors[type(answer).__name__] += 1
    raise AssertionError(f"no good answer after {outcome.sent} mutants: {link.state}, {link.counters}")
