"""CURVE: a client without a key gets nothing and learns nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.errors import ConfigurationError, LinkTimeoutError
from policy_server.server.background import ANY_PORT, background_server
from policy_server.server.keys import make_keys
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from policy_server.server.service import ServeSettings, open_server
from policy_server.server.visitor import visit


def scripted() -> ScriptedPolicy:
    return ScriptedPolicy(Script(info=scripted_info(4, 6)))


def test_only_clients_with_an_allowed_key_are_answered(tmp_path: Path) -> None:
    make_keys(tmp_path / "server", "robot")
    make_keys(tmp_path / "stranger", "robot")
    stranger = tmp_path / "stranger" / "client_robot"
    (stranger / "server.key").write_text((tmp_path / "server" / "server.key").read_text())
    with background_server(scripted, ServeSettings(bind=ANY_PORT, keys=tmp_path / "server")) as server:
        with visit(server.endpoint, 5.0, tmp_path / "server" / "client_robot") as guest:
            assert guest.info.model_id == "scripted"
        for keys in (None, stranger):
            with pytest.raises(LinkTimeoutError), visit(server.endpoint, 0.5, keys):
                pass
        assert server.server.counters.received == 2  # hello and goodbye of the one that was let in


def test_secret_keys_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    made = make_keys(tmp_path, "robot")
    secrets = [path for path in made if path.suffix == ".key_secret"]
    assert len(secrets) == 2
    assert {path.stat().st_mode & 0o777 for path in secrets} == {0o600}


def test_a_second_client_leaves_the_servers_keys_and_the_same_name_is_refused(tmp_path: Path) -> None:
    make_keys(tmp_path, "one")
    before = (tmp_path / "server.key_secret").read_text()
    make_keys(tmp_path, "two")
    assert (tmp_path / "server.key_secret").read_text() == before
    with pytest.raises(ConfigurationError, match="client one"):
        make_keys(tmp_path, "one")


def test_a_folder_without_keys_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="yam-policy keys"):
        open_server(scripted, ServeSettings(bind=ANY_PORT, keys=tmp_path))
