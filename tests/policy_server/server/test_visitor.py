"""The guest of the command line, and what it says to a wrong address."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.errors import ConfigurationError, LinkTimeoutError
from policy_server.server.keys import make_keys
from policy_server.server.visitor import visit


@pytest.mark.parametrize("address", ["foo", "tcp://", "tcp://127.0.0.1", "http://127.0.0.1:1"])
def test_what_is_no_address_is_refused_in_one_line(address: str) -> None:
    """`yam-policy info --server foo` ended in a traceback of pyzmq."""
    with pytest.raises(ConfigurationError, match=r"tcp://HOST:PORT"), visit(address, 0.1):
        raise AssertionError("nobody lives there")


def test_silence_is_a_timeout_that_names_the_address() -> None:
    with pytest.raises(LinkTimeoutError, match=r"tcp://127.0.0.1:1\b"), visit("tcp://127.0.0.1:1", 0.1):
        raise AssertionError("nobody lives there")


def test_keys_for_a_folder_that_cannot_be_made_are_refused_in_one_line() -> None:
    """`yam-policy keys` under a path that is no folder ended in a traceback."""
    with pytest.raises(ConfigurationError, match="folder"):
        make_keys(Path("/proc/none"), "robot")
