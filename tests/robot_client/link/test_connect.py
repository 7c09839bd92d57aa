"""The first exchange: who is there, does it fit, and what a person is told otherwise (B01)."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from contract import errors as e
from contract.bodies import Message
from contract.codec import encode
from contract.messages import ErrorReply, Hello
from contract.types import ActionChunk
from policy_server.server.background import background_server
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from policy_server.server.settings import ServeSettings
from robot_client.link.policy_link import PolicyLink
from tests.contract.messages_of_all_kinds import observation, server_info
from tests.gate import Gate
from tests.robot_client.link.fake_server import Send, fake_server
from tests.robot_client.link.links import free_port, link_to, poll_until


def scripted(**script: Any) -> ScriptedPolicy:
    return ScriptedPolicy(Script(**{"info": scripted_info(4, 6), **script}))


TRIES = 60


def refusal_of(link: PolicyLink, cause: str, budget_ms: float = 500.0) -> e.StackError:
    """The error of a connect that must fail in its time. A busy machine may need several to get as far as `cause`."""
    for _ in range(TRIES):
        begin_s = time.monotonic()
        with pytest.raises(e.StackError) as caught:
            link.connect(budget_ms)
        assert 0.9 * budget_ms / 1e3 < time.monotonic() - begin_s < 20.0
        assert f"{budget_ms:g} ms" in str(caught.value)
        if cause in str(caught.value):
            return caught.value
    raise AssertionError(f"never {cause}: {caught.value}")


def test_with_nothing_listening_the_error_names_address_budget_and_refusal() -> None:
    """B01 (a): 15 s of silence, then an error without host, port or remedy."""
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    with link_to(endpoint) as link:
        error = refusal_of(link, "refused")
    assert type(error) is e.LinkError
    assert endpoint in str(error) and "yam-policy" in str(error)


def test_a_listener_that_says_nothing_is_called_connected_but_silent() -> None:
    """B01 (a)."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with link_to(endpoint) as link:
            error = refusal_of(link, "connected but silent")
    assert isinstance(error, e.LinkTimeoutError)
    assert endpoint in str(error)


def test_a_server_that_ignores_the_hello_is_called_connected_but_silent() -> None:
    """B01 (a): a ZeroMQ peer, but none of ours."""

    def mute(message: Message, request_id: int, send: Send) -> bool:
        return True

    with fake_server(server_info(), mute) as server, link_to(server.endpoint) as link:
        error = refusal_of(link, "does not answer the hello")
    assert isinstance(error, e.LinkTimeoutError)


def test_the_same_link_gets_chunks_once_a_server_is_there() -> None:
    """B01 (b): the client had to be restarted."""
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    with link_to(endpoint) as link:
        refusal_of(link, "refused", 200.0)
        with background_server(scripted, ServeSettings(bind=endpoint)):
            link.connect()
            assert isinstance(link.wait_for(link.submit(observation())), ActionChunk)


def test_a_loading_server_is_waited_for() -> None:
    gate = Gate()
    policy = lambda: ScriptedPolicy(Script(info=scripted_info(4, 6), load_s=1.0), gate)  # noqa: E731
    with background_server(policy) as server, link_to(server.endpoint) as link:
        refusal_of(link, "still loading", 150.0)
        gate.open()
        assert link.connect().state == "READY"


def test_a_proxy_in_the_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab proxy made even 127.0.0.1 look down."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY", "SOCKS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with background_server(scripted) as server, link_to(server.endpoint) as link:
        assert link.connect().model_id == "scripted"


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"protocol": 2}, e.VersionError, "protocol of tcp://.*: expected 1, got 2"),
        ({"contract_hash": "feed"}, e.VersionError, "contract of tcp://.*got feed"),
        ({"layout": server_info().layout[::-1]}, e.FieldError, "layout: expected"),
        ({"cameras": server_info().cameras[:2]}, e.FieldError, "camera roles: expected .*got .*right_wrist"),
    ],
)
def test_a_server_that_does_not_fit_is_refused_with_the_field_and_both_values(
    changes: dict[str, Any], kind: type[e.StackError], words: str
) -> None:
    """B19, B21 and versions: one line, and the arms are never enabled."""
    with fake_server(server_info(**changes)) as server, link_to(server.endpoint) as link:
        with pytest.raises(kind, match=words):
            link.connect()
        assert link.state == "REFUSED"
        assert link.refusal is not None and link.refusal.remedy
        with pytest.raises(kind):
            link.submit(observation())


@pytest.mark.parametrize(("code", "kind"), [("version", e.VersionError), ("session", e.SessionError)])
def test_a_servers_refusal_reaches_the_caller_as_it_was_said(code: str, kind: type[e.StackError]) -> None:
    def refuse(message: Message, request_id: int, send: Send) -> bool:
        if isinstance(message, Hello):
            send(encode(ErrorReply(code, "the field", "this", "that", "do so"), request_id))
        return True

    with fake_server(server_info(), refuse) as server, link_to(server.endpoint) as link:
        with pytest.raises(kind, match="the field: expected this, got that \\(do so\\)"):
            link.connect()
        assert [type(message) for message in server.got] == [Hello]


def test_after_a_refusal_connect_tries_again() -> None:
    answers = iter(["session"])

    def refuse_once(message: Message, request_id: int, send: Send) -> bool:
        code = next(answers, None)
        if code is not None:
            send(encode(ErrorReply(code, "x", "", "", ""), request_id))
        return code is not None

    with fake_server(server_info(), refuse_once) as server, link_to(server.endpoint) as link:
        with pytest.raises(e.SessionError):
            link.connect()
        assert link.connect().model_id == "scripted"
        assert link.refusal is None


def test_another_policy_behind_the_same_address_is_refused_during_a_run() -> None:
    """Grid, chunk and calibration of the run belong to the first policy."""
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    with link_to(endpoint) as link:
        with fake_server(server_info(), endpoint=endpoint):
            link.connect()
        with fake_server(server_info(weights_hash="1" * 64), endpoint=endpoint):
            poll_until(link, lambda answers: link.state == "REFUSED")
            assert isinstance(link.refusal, e.VersionError)
            assert "weights_hash of tcp" in str(link.refusal) and "restart the run" in str(link.refusal)


def test_before_the_first_welcome_there_is_no_server_info_and_no_submitting() -> None:
    with link_to("tcp://127.0.0.1:9") as link:
        with pytest.raises(e.LinkError, match="no welcome yet, CLOSED"):
            _ = link.info
        with pytest.raises(e.LinkError, match="CLOSED"):
            link.submit(observation())


def test_an_observation_that_the_server_would_refuse_is_not_sent() -> None:
    with background_server(scripted) as server, link_to(server.endpoint) as link:
        link.connect()
        with pytest.raises(e.FieldError, match="branches"):
            link.submit(observation(branches=()))
        with pytest.raises(e.FieldError, match="session: expected robot, got other"):
            link.submit(observation(session="other"))
        assert isinstance(link.wait_for(link.submit(observation())), ActionChunk)
        assert server.server.counters.refused == 0
