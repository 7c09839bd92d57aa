"""A server that cannot open leaves nothing open: neither its port, nor files, nor threads."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from contract.errors import ConfigurationError
from policy_server.server.background import ANY_PORT, background_server
from policy_server.server.door import open_door
from policy_server.server.keys import make_keys
from policy_server.server.outbox import open_outbox
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from policy_server.server.service import PolicyServer, open_server
from policy_server.server.settings import ServeSettings


def scripted() -> ScriptedPolicy:
    return ScriptedPolicy(Script(info=scripted_info(4, 6)))


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("metrics", ["nonsense", "0.0.0.0:0", "127.0.0.1:99999"])
def test_pages_that_cannot_open_leave_no_file_and_no_thread_behind(tmp_path: Path, metrics: str) -> None:
    """The pipe of the outbox stayed open, and with keys the authenticator's thread could."""
    make_keys(tmp_path, "robot")
    settings = ServeSettings(bind=ANY_PORT, keys=tmp_path, metrics=metrics)
    with pytest.raises(ConfigurationError):
        open_server(scripted, settings)
    # What earlier tests left may still be going away on a busy machine.
    files, threads = open_files(), set(threading.enumerate())
    for _ in range(3):
        with pytest.raises(ConfigurationError):
            open_server(scripted, settings)
    assert open_files() <= files and set(threading.enumerate()) <= threads


def test_two_servers_on_one_port_the_second_says_so() -> None:
    with background_server(scripted) as first, pytest.raises(ConfigurationError, match="in use"):
        open_server(scripted, ServeSettings(bind=first.endpoint))


@pytest.mark.parametrize("hang_s", [0.0, -1.0, float("nan")])
def test_a_hang_time_that_ends_every_server_is_refused(hang_s: float) -> None:
    with pytest.raises(ConfigurationError, match="--hang-s"):
        open_server(scripted, ServeSettings(bind=ANY_PORT, hang_s=hang_s))


def test_making_a_server_opens_nothing_by_itself() -> None:
    door, outbox = open_door(ServeSettings(bind=ANY_PORT)), open_outbox()
    files, threads = open_files(), set(threading.enumerate())
    server = PolicyServer(door, outbox, scripted, 1.0, lambda: 0)
    assert open_files() <= files and set(threading.enumerate()) <= threads
    assert server.state == "LOADING" and server.close()
