"""CURVE keys of one robot: the folder that `yam-policy keys` made for it."""

from __future__ import annotations

from pathlib import Path

import zmq
import zmq.auth

from contract.errors import ConfigurationError


def use_keys(socket: zmq.Socket, folder: Path) -> None:
    """Talk only to the server whose public key is in the folder. Raises `ConfigurationError` when a key is missing."""
    own, server = folder / "client.key_secret", folder / "server.key"
    if not own.exists() or not server.exists():
        raise ConfigurationError(
            "--keys",
            expected=f"{own.name} and {server.name}",
            got=str(folder),
            remedy="copy the folder client_NAME that `yam-policy keys` made on the server",
        )
    socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(str(own))
    socket.curve_serverkey, _ = zmq.auth.load_certificate(str(server))
