"""Where the server listens, and the rule that nothing but loopback is served without keys."""

from __future__ import annotations

import re
from typing import Final

from contract.errors import ConfigurationError

DEFAULT_BIND: Final = "tcp://127.0.0.1:5555"
_TCP: Final = re.compile(r"^tcp://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.*-]+):(?P<port>\*|\d{1,5})$")


def bind_endpoint(bind: str, has_keys: bool, insecure: bool) -> str:
    """`bind` as ZeroMQ wants it; port 0 or `*` means any free port.

    Raises `ConfigurationError` when it is no TCP address, or open to others without keys and without `insecure`.
    """
    match = _TCP.match(bind)
    if match is None or (match["port"] != "*" and int(match["port"]) > 65535):
        raise ConfigurationError(
            "--bind",
            expected="tcp://HOST:PORT",
            got=bind,
            remedy=f"for example {DEFAULT_BIND}; port 0 picks a free one",
        )
    if not (is_loopback(match["host"]) or has_keys or insecure):
        raise ConfigurationError(
            "--bind",
            expected="a loopback address, because the server has no keys",
            got=bind,
            remedy="make keys with `yam-policy keys DIR` and use --keys DIR; or --insecure on a network you trust",
        )
    return f"tcp://{match['host']}:{'*' if match['port'] == '0' else match['port']}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    return host in ("localhost", "[::1]") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None
