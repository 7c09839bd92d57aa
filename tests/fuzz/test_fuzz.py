"""B05, by the thousand: mutants of every message at both ends of the wire. `make fuzz` sends 100,000 to each."""

from __future__ import annotations

from tests.fuzz.client_side import fuzz_client
from tests.fuzz.server_side import fuzz_server

FEW = 2000


def test_a_server_under_mutants_answers_every_good_request_and_accounts_for_the_rest() -> None:
    """B05."""
    outcome = fuzz_server(FEW, seed=1)
    assert outcome.sent >= FEW and outcome.good_requests >= FEW // 200
    # Most mutants are broken: an error reply where an id could be read, a counted drop where not.
    assert sum(count for kind, count in outcome.replies.items() if kind.startswith("error")) > FEW // 4
    assert outcome.counters["unreadable"] > FEW // 20
    assert outcome.counters["engine_faults"] == 0
    assert outcome.counters["received"] >= outcome.sent


def test_a_link_under_mutants_takes_every_good_answer_and_counts_the_rest() -> None:
    """B05."""
    outcome = fuzz_client(FEW, seed=2)
    assert outcome.sent >= FEW and outcome.good_answers >= 5
    assert outcome.counters["unreadable"] + outcome.counters["late"] > FEW // 2
