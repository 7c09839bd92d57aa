"""An order of methods that nobody reads by accident, and nobody changes unseen.

This is a seal, not a lock: everything needed to open it lies beside it. It keeps an honest operator from seeing the
order in passing; the digest shows whether it was changed.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence

from robot_client.trial.errors import TrialError


def seal(order: Sequence[Sequence[str]], nonce: str) -> tuple[str, str]:
    """Sealed text and digest of an order: for each round the methods in the order of their runs."""
    plain = json.dumps([list(methods) for methods in order]).encode()
    return base64.b64encode(_mixed(plain, nonce)).decode(), _digest(plain, nonce)


def unseal(sealed: str, digest: str, nonce: str) -> list[list[str]]:
    """The order. Raises `TrialError` when the text does not fit its digest."""
    try:
        plain = _mixed(base64.b64decode(sealed, validate=True), nonce)
    except ValueError:
        plain = b""
    if _digest(plain, nonce) != digest:
        raise TrialError("sealed order", expected="what was sealed", got="something else", remedy="begin a new trial")
    order = json.loads(plain)
    return [[str(method) for method in methods] for methods in order]


def _digest(plain: bytes, nonce: str) -> str:
    return hashlib.sha256(nonce.encode() + plain).hexdigest()


def _mixed(data: bytes, nonce: str) -> bytes:
    """XOR with a key stream of the nonce; the same again undoes it."""
    blocks = (hashlib.sha256(f"{nonce}/{block}".encode()).digest() for block in range(len(data) // 32 + 1))
    return bytes(a ^ b for a, b in zip(data, b"".join(blocks), strict=False))
