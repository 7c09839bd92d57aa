"""The server's address as a client may write it."""

from __future__ import annotations

import re
from typing import Final

from contract.errors import ConfigurationError

DEFAULT_ADDRESS: Final = "tcp://127.0.0.1:5555"
_TCP: Final = re.compile(r"^tcp://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):(\d{1,5})$")


def checked_address(address: str) -> str:
    """The address unchanged. Raises `ConfigurationError` when it is no `tcp://HOST:PORT`."""
    match = _TCP.match(address) if isinstance(address, str) else None
    if match is None or not 1 <= int(match[2]) <= 65535:
        raise ConfigurationError(
            "server address",
            expected="tcp://HOST:PORT",
            got=repr(address)[:100],
            remedy=f"for example {DEFAULT_ADDRESS}",
        )
    return address
