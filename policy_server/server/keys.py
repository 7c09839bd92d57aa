"""CURVE keys in a folder: `server.key`, `server.key_secret`, and one public `clients/NAME.key` per allowed client."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import zmq
import zmq.auth
from zmq.auth.thread import ThreadAuthenticator

from contract.errors import ConfigurationError

SERVER: Final = "server"
CLIENTS: Final = "clients"


def make_keys(folder: Path, client: str) -> list[Path]:
    """Server keys, unless there are some, and a key pair for `client`; returns the new files.

    `FOLDER/client_NAME/` (its secret key, and the server's public key) goes to the robot and may then be deleted here.
    """
    allowed = folder / CLIENTS
    try:
        allowed.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            "folder of keys", expected="a folder to write to", got=f"{folder}: {error.strerror}", remedy="name another"
        ) from error
    made: list[Path] = []
    if not (folder / f"{SERVER}.key_secret").exists():
        made += [Path(path) for path in zmq.auth.create_certificates(str(folder), SERVER)]
    parcel = folder / f"client_{client}"
    if (allowed / f"{client}.key").exists():
        raise ConfigurationError(
            f"client {client}", expected="a new name", got=f"{allowed / client}.key", remedy="delete that key first"
        )
    parcel.mkdir(exist_ok=True)
    public, secret = (Path(path) for path in zmq.auth.create_certificates(str(parcel), "client"))
    (allowed / f"{client}.key").write_text(public.read_text())
    (parcel / f"{SERVER}.key").write_text((folder / f"{SERVER}.key").read_text())
    for path in (*folder.glob("*.key_secret"), secret):
        path.chmod(0o600)
    return [*made, allowed / f"{client}.key", secret, parcel / f"{SERVER}.key"]


def secure(socket: zmq.Socket, folder: Path) -> ThreadAuthenticator:
    """Let only the clients of the folder in. Call before binding; stop the returned authenticator after closing.

    Raises `ConfigurationError` when the server's secret key or every client key is missing.
    """
    secret = folder / f"{SERVER}.key_secret"
    if not secret.exists() or not list((folder / CLIENTS).glob("*.key")):
        raise ConfigurationError(
            "--keys",
            expected=f"{secret.name} and {CLIENTS}/NAME.key in the folder",
            got=str(folder),
            remedy="make them with `yam-policy keys DIR`",
        )
    socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(str(secret))
    socket.curve_server = True
    guard = ThreadAuthenticator(socket.context)
    guard.start()
    guard.configure_curve(domain="*", location=str(folder / CLIENTS))
    return guard
