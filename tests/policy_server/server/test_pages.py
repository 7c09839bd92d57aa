"""The pages of a running server: metrics for Prometheus, a status as JSON, and nobody starved by whoever looks."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from contract.errors import ConfigurationError
from contract.types import ActionChunk
from policy_server.server.background import ANY_PORT, BackgroundServer, background_server
from policy_server.server.history import History
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from policy_server.server.service import open_server
from policy_server.server.settings import ServeSettings
from policy_server.server.visitor import visit
from tests.contract.messages_of_all_kinds import observation
from tests.waiting import PATIENCE_S

SETTINGS = ServeSettings(bind=ANY_PORT, metrics="127.0.0.1:0")


def policy() -> ScriptedPolicy:
    return ScriptedPolicy(Script(info=scripted_info(4, 6, vocabulary=("put", "the", "cube"))))


def page(server: BackgroundServer, path: str) -> bytes:
    pages = server.server.pages
    assert pages is not None
    with urllib.request.urlopen(f"http://{pages.address}{path}", timeout=PATIENCE_S) as answer:
        return bytes(answer.read())


def sample(text: bytes, name: str, **labels: str) -> float:
    """Value of one sample of the exposition text, as Prometheus reads it."""
    for family in text_string_to_metric_families(text.decode()):
        for one in family.samples:
            if one.name == name and labels.items() <= one.labels.items():
                return float(one.value)
    raise LookupError(f"{name} {labels}")


def test_metrics_count_replans_refusals_and_sessions() -> None:
    with background_server(policy, SETTINGS) as server, visit(server.endpoint, PATIENCE_S) as guest:
        for sequence in range(3):
            guest.ask(observation(sequence=sequence, session=guest.session), PATIENCE_S)
        guest.ask(observation(session=guest.session, instruction="fly to the moon"), PATIENCE_S)
        text = page(server, "/metrics")
    assert sample(text, "yam_policy_replans_total") == 3
    assert sample(text, "yam_policy_refused_total") == 1
    assert sample(text, "yam_policy_sessions") == 1
    assert sample(text, "yam_policy_state", state="READY") == 1
    assert sample(text, "yam_policy_branches_run_total", branch="full") == 3
    assert sample(text, "yam_policy_stage_milliseconds", of="total", quantile="0.99") >= 0


def test_status_says_what_really_runs_and_how_long_its_stages_take() -> None:
    with background_server(policy, SETTINGS) as server, visit(server.endpoint, PATIENCE_S) as guest:
        answer = guest.ask(observation(session=guest.session), PATIENCE_S)
        assert isinstance(answer, ActionChunk)
        status = json.loads(page(server, "/status"))
    assert status["state"] == "READY"
    assert status["engine_id"] == answer.engine_id
    assert status["counters"]["replans"] == 1
    assert status["temporal_ratio"]["p50"] == pytest.approx(answer.temporal_ratio.value)
    assert status["stages_ms"]["total"]["p50"] == pytest.approx(answer.durations_ns["total"] / 1e6)


def test_before_the_first_answer_the_pages_are_there_and_empty() -> None:
    with background_server(policy, SETTINGS) as server:
        status = json.loads(page(server, "/status"))
        assert status["stages_ms"] == {} and status["temporal_ratio"] == {}
        page(server, "/metrics")


def test_another_path_is_not_found() -> None:
    with background_server(policy, SETTINGS) as server, pytest.raises(urllib.error.HTTPError, match="404"):
        page(server, "/etc/passwd")


def test_a_peer_that_connects_and_says_nothing_keeps_nobody_else_out() -> None:
    with background_server(policy, SETTINGS) as server:
        pages = server.server.pages
        assert pages is not None
        host, port = pages.address.split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S):
            assert b"yam_policy_state" in page(server, "/metrics")


@pytest.mark.parametrize(
    ("address", "says"), [("0.0.0.0:9464", "loopback"), ("9464", "HOST:PORT"), ("127.0.0.1:99999", "HOST:PORT")]
)
def test_an_address_open_to_others_or_none_at_all_is_refused(address: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        open_server(policy, ServeSettings(bind=ANY_PORT, metrics=address))


def test_the_history_forgets_what_is_old() -> None:
    with background_server(policy) as server, visit(server.endpoint, PATIENCE_S) as guest:
        chunk = guest.ask(observation(session=guest.session), PATIENCE_S)
    assert isinstance(chunk, ActionChunk)
    history = History(kept=4)
    for _ in range(100):
        history.note(chunk)
    assert all(len(values) == 4 for values in history._stages_ns.values())
    assert history.branches()[0]["full"] == 100, "counts are since start, percentiles are of the last answers"
