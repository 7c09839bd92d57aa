"""CURVE: a client without a key gets nothing and learns nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.errors import ConfigurationError, LinkTimeoutError
from policy_server.server.background import ANY_PORT, background_server
from policy_server.server.keys import make_keys
from policy_server.server.scripted_policy import Script, ScriptedPolicy, scripted_info
from policy_server.server.service import open_server
from policy_server.server.settings import ServeSettings
from policy_server.server.visitor import visit
from tests.waiting import PATIENCE_S, until


def scripted() -> ScriptedPolicy:
    return ScriptedPolicy(Script(info=scripted_info(4, 6)))


def test_only_clients_with_an_allowed_key_are_answered(tmp_path: Path) -> None:
    make_keys(tmp_path / "server", "robot")
    make_keys(tmp_path / "stranger", "robot")
    stranger = tmp_path / "stranger" / "client_robot"
    (stranger / "server.key").write_text((tmp_path / "server" / "server.key").read_text())
    with background_server(scripted, ServeSettings(bind=ANY_PORT, keys=tmp_path / "server")) as server:
        with visit(server.endpoint, PATIENCE_S, tmp_path / "server" / "client_robot") as guest:
            assert guest.info.model_id == "scripted"
        for keys in (None, stranger):
            with pytest.raises(LinkTimeoutError), visit(server.endpoint, 0.5, keys):
                pass
        # Hello and goodbye of the one that was let in.
        assert until(lambda: server.server.counters.received >= 2)
        assert server.server.counters.received == 2


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


@pytest.mark.parametrize("name", ["../outside", "a/b", "", ".hidden", "x" * 65, "two words"])
def test_a_client_name_that_is_no_plain_word_is_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    """`--client ../outside` wrote keys outside of the folder."""
    folder = tmp_path / "keys"
    with pytest.raises(ConfigurationError, match="--client"):
        make_keys(folder, name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_secret_that_others_may_read_is_refused_on_both_sides(tmp_path: Path, mode: int) -> None:
    make_keys(tmp_path, "robot")
    (tmp_path / "server.key_secret").chmod(mode)
    with pytest.raises(ConfigurationError, match=r"chmod 600 .*server\.key_secret"):
        open_server(scripted, ServeSettings(bind=ANY_PORT, keys=tmp_path))
    (tmp_path / "client_robot" / "client.key_secret").chmod(mode)
    outside = visit("tcp://127.0.0.1:1", 0.1, tmp_path / "client_robot")
    with pytest.raises(ConfigurationError, match=r"chmod 600 .*client\.key_secret"), outside:
        pass


@pytest.mark.parametrize("content", [b"", b"not a key", b"\xff\xfe\x00"])
@pytest.mark.parametrize("name", ["server.key_secret", "clients/robot.key"])
def test_a_file_that_is_no_key_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    """A broken client key failed in the authenticator's thread, and nobody was let in any more."""
    make_keys(tmp_path, "robot")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=name.rsplit("/", 1)[-1]):
        open_server(scripted, ServeSettings(bind=ANY_PORT, keys=tmp_path))


def test_a_public_key_in_the_place_of_the_secret_one_is_named(tmp_path: Path) -> None:
    make_keys(tmp_path, "robot")
    (tmp_path / "server.key_secret").write_bytes((tmp_path / "server.key").read_bytes())
    with pytest.raises(ConfigurationError, match="a public key alone"):
        open_server(scripted, ServeSettings(bind=ANY_PORT, keys=tmp_path))


def test_nothing_is_left_behind_by_making_keys(tmp_path: Path) -> None:
    made = make_keys(tmp_path, "robot")
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert set(made) <= set(files) and len(files) == 6
    assert not [path for path in tmp_path.rglob("*") if path.is_dir() and path.name not in ("clients", "client_robot")]
