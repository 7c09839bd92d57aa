"""Nothing but loopback is served without keys (B05)."""

from __future__ import annotations

import pytest

from contract.errors import ConfigurationError
from policy_server.server.bind import DEFAULT_BIND, bind_endpoint


@pytest.mark.parametrize("bind", [DEFAULT_BIND, "tcp://localhost:1", "tcp://127.1.2.3:65535", "tcp://[::1]:5555"])
def test_loopback_needs_no_keys(bind: str) -> None:
    assert bind_endpoint(bind, has_keys=False, insecure=False) == bind


@pytest.mark.parametrize(
    "bind", ["tcp://*:5555", "tcp://0.0.0.0:5555", "tcp://192.168.1.5:5555", "tcp://[::]:5555", "tcp://robot:5"]
)
def test_any_other_address_needs_keys_or_a_plain_word(bind: str) -> None:
    with pytest.raises(ConfigurationError, match="--insecure"):
        bind_endpoint(bind, has_keys=False, insecure=False)
    assert bind_endpoint(bind, has_keys=True, insecure=False) == bind
    assert bind_endpoint(bind, has_keys=False, insecure=True) == bind


def test_a_name_that_only_looks_like_loopback_is_none() -> None:
    with pytest.raises(ConfigurationError, match="--insecure"):
        bind_endpoint("tcp://127.0.0.1.example.org:5555", has_keys=False, insecure=False)


def test_port_zero_means_any() -> None:
    assert bind_endpoint("tcp://127.0.0.1:0", has_keys=False, insecure=False) == "tcp://127.0.0.1:*"


@pytest.mark.parametrize(
    "bind", ["", "5555", "127.0.0.1:5555", "tcp://127.0.0.1", "tcp://127.0.0.1:x", "ipc://x", "tcp://a:70000"]
)
def test_what_is_no_tcp_address_is_refused_with_an_example(bind: str) -> None:
    with pytest.raises(ConfigurationError, match="tcp://HOST:PORT"):
        bind_endpoint(bind, has_keys=True, insecure=True)
