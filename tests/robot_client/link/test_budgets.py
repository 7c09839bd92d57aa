"""Budgets and addresses are refused before any socket exists (B01 d)."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import pytest
import zmq

from contract.errors import ConfigurationError
from robot_client.link.address import checked_address
from robot_client.link.budgets import Budgets, checked_budget_ms
from robot_client.link.policy_link import PolicyLink

BAD = [0, -1, math.nan, True, False, "abc", "500", 1e12, math.inf, None, 0.5, [500]]


@pytest.mark.parametrize("value", BAD, ids=repr)
@pytest.mark.parametrize("field", [field.name for field in fields(Budgets)])
def test_a_budget_that_is_no_sensible_time_is_refused(field: str, value: Any) -> None:
    """B01 (d): 0 was an instant failure, -1 a hang for ever, True one millisecond."""
    with pytest.raises(ConfigurationError, match=f"{field}: expected a number of milliseconds"):
        Budgets(**{field: value})


@pytest.mark.parametrize("value", [500.0, 500, 1, 600_000])
def test_a_sensible_budget_is_accepted(value: float) -> None:
    """B01 (d)."""
    assert checked_budget_ms("budget", value) == float(value)


@pytest.mark.parametrize("value", BAD[:-3], ids=repr)
def test_connect_refuses_a_bad_budget_before_it_opens_a_socket(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """B01 (d)."""
    link = PolicyLink("tcp://127.0.0.1:5555", "robot", frozenset())
    monkeypatch.setattr(zmq.Context, "socket", lambda *_: pytest.fail("a socket was opened"))
    with pytest.raises(ConfigurationError):
        link.connect(value)
    assert link.state == "CLOSED"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "5555",
        "127.0.0.1:5555",
        "tcp://*:5555",
        "tcp://robot",
        "tcp://robot:0",
        "tcp://robot:99999",
        "ipc://x",
        None,
    ],
)
def test_an_address_that_is_no_host_and_port_is_refused_with_an_example(address: Any) -> None:
    with pytest.raises(ConfigurationError, match="tcp://HOST:PORT"):
        checked_address(address)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:5555", "tcp://gpu-box.lab:1", "tcp://[::1]:65535"])
def test_a_host_and_port_is_accepted(address: str) -> None:
    assert checked_address(address) == address
