"""CURVE keys in a folder: `server.key`, `server.key_secret`, and one public `clients/NAME.key` per allowed client."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Final

import zmq
import zmq.auth
from zmq.auth.thread import ThreadAuthenticator

from contract.curve_keys import public_key, secret_keys
from contract.errors import ConfigurationError

SERVER: Final = "server"
CLIENTS: Final = "clients"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def make_keys(folder: Path, client: str) -> list[Path]:
    """Server keys, unless there are some, and a key pair for `client`; returns the new files.

    `FOLDER/client_NAME/` (its secret key, and the server's public key) goes to the robot and may then be deleted here.
    Raises `ConfigurationError` for a name that is no plain word or is taken, and for a folder that cannot be written.
    """
    if not _NAME.fullmatch(client):
        raise ConfigurationError(
            "--client", expected="letters, digits, - and _", got=repr(client), remedy="it becomes the name of a file"
        )
    if (folder / CLIENTS / f"{client}.key").exists():
        raise ConfigurationError(
            f"client {client}",
            expected="a new name",
            got=folder / CLIENTS / f"{client}.key",
            remedy="delete that key first",
        )
    try:
        return _made(folder, client)
    except OSError as error:
        raise ConfigurationError(
            "folder of keys", expected="a folder to write to", got=f"{folder}: {error.strerror}", remedy="name another"
        ) from error


def secure(socket: zmq.Socket, folder: Path) -> ThreadAuthenticator:
    """Let only the clients of the folder in. Call before binding; stop the returned authenticator after closing.

    Raises `ConfigurationError` when the server's secret key or every client key is missing, or one cannot be used.
    """
    secret, clients = folder / f"{SERVER}.key_secret", sorted((folder / CLIENTS).glob("*.key"))
    if not secret.exists() or not clients:
        raise ConfigurationError(
            "--keys",
            expected=f"{secret.name} and {CLIENTS}/NAME.key in the folder",
            got=str(folder),
            remedy="make them with `yam-policy keys DIR`",
        )
    for client in clients:
        public_key(client)  # the authenticator would fail in its thread, and then let nobody in
    socket.curve_publickey, socket.curve_secretkey = secret_keys(secret)
    socket.curve_server = True
    guard = ThreadAuthenticator(socket.context)
    guard.start()
    guard.configure_curve(domain="*", location=str(folder / CLIENTS))
    return guard


def _made(folder: Path, client: str) -> list[Path]:
    allowed, parcel = folder / CLIENTS, folder / f"client_{client}"
    allowed.mkdir(parents=True, exist_ok=True)
    parcel.mkdir(exist_ok=True)
    made = [] if (folder / f"{SERVER}.key_secret").exists() else _pair(folder, SERVER)
    public, secret = _pair(parcel, "client")
    (allowed / f"{client}.key").write_text(public.read_text())
    (parcel / f"{SERVER}.key").write_text((folder / f"{SERVER}.key").read_text())
    return [*made, allowed / f"{client}.key", secret, parcel / f"{SERVER}.key"]


def _pair(folder: Path, name: str) -> list[Path]:
    """NAME.key and NAME.key_secret; the secret is never readable by others, not even while it is written."""
    with tempfile.TemporaryDirectory(dir=folder) as private:
        paths = [Path(path) for path in zmq.auth.create_certificates(private, name)]
        paths[1].chmod(0o600)
        for path in paths:
            os.replace(path, folder / path.name)
    return [folder / path.name for path in paths]
