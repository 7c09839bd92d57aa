"""CURVE keys in files, as `yam-policy keys` writes them, read with errors a person can act on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import zmq
import zmq.auth

from contract.errors import ConfigurationError

_OTHERS: Final = 0o077
"""Rights of group and all others."""


def public_key(path: Path) -> bytes:
    """The public key in a file. Raises `ConfigurationError` when it cannot be read or holds none."""
    return _load(path)[0]


def secret_keys(path: Path) -> tuple[bytes, bytes]:
    """Public and secret key of a `.key_secret` file. Raises `ConfigurationError` also when others may read it."""
    public, secret = _load(path)
    if secret is None:
        raise ConfigurationError(
            f"{path}", expected="a secret key", got="a public key alone", remedy="copy the .key_secret file again"
        )
    mode = path.stat().st_mode & 0o777
    if mode & _OTHERS:
        raise ConfigurationError(
            f"{path}", expected="readable by its owner alone", got=f"mode {mode:o}", remedy=f"chmod 600 {path}"
        )
    return public, secret


def use_client_keys(socket: zmq.Socket, folder: Path) -> None:
    """Talk only to the server whose public key is in a client's folder. Call before connecting.

    Raises `ConfigurationError` when a key is missing, unreadable or open to others.
    """
    own, server = folder / "client.key_secret", folder / "server.key"
    if not own.is_file() or not server.is_file():
        raise ConfigurationError(
            "--keys",
            expected=f"a folder with {own.name} and {server.name}",
            got=folder,
            remedy="copy the folder client_NAME that `yam-policy keys` made on the server",
        )
    socket.curve_publickey, socket.curve_secretkey = secret_keys(own)
    socket.curve_serverkey = public_key(server)


def _load(path: Path) -> tuple[bytes, bytes | None]:
    try:
        return zmq.auth.load_certificate(str(path))
    except (OSError, ValueError) as error:  # no rights, no key in it, no text at all
        raise ConfigurationError(
            f"{path}", expected="a key that `yam-policy keys` wrote", got=error, remedy="copy or make it again"
        ) from error
