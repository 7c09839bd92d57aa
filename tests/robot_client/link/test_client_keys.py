"""The robot's own way to a server that lets in nobody without a key, from the command line to the socket."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.errors import ConfigurationError
from policy_server.server.background import ANY_PORT, background_server
from policy_server.server.keys import make_keys
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from policy_server.server.settings import ServeSettings
from robot_client import commands
from robot_client.demo import command
from robot_client.demo.settings import RunSettings
from tests.robot_client.link.links import link_to


def scripted() -> ScriptedPolicy:
    return ScriptedPolicy(Script(info=scripted_info(4, 6)))


def test_a_link_with_keys_is_welcomed_by_a_server_with_keys(tmp_path: Path) -> None:
    make_keys(tmp_path, "robot")
    settings = ServeSettings(bind=ANY_PORT, keys=tmp_path)
    with (
        background_server(scripted, settings) as server,
        link_to(server.endpoint, keys=tmp_path / "client_robot") as link,
    ):
        assert link.connect().model_id == "scripted"


def test_a_run_takes_the_folder_of_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`yam-policy keys` said "name it with --keys", and no command of the robot had it."""
    make_keys(tmp_path, "robot")
    taken: list[RunSettings] = []
    monkeypatch.setattr(command, "run_demo", lambda settings: taken.append(settings) or 0)
    folder = tmp_path / "client_robot"
    with pytest.raises(SystemExit):
        commands.run("tcp://127.0.0.1:1", "go", rig="ideal", keys=folder)
    taken[0].check()
    assert taken[0].keys == folder


def test_a_folder_without_keys_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_prepare", lambda out: pytest.fail("started"))
    with pytest.raises(ConfigurationError, match="yam-policy keys"):
        commands.run("tcp://127.0.0.1:1", "go", rig="ideal", keys=tmp_path)
