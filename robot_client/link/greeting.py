"""The first exchange: what we say, and what we must agree with before any arm is enabled."""

from __future__ import annotations

import os
import secrets
from typing import Final

from contract.check import check_camera_roles, check_layout
from contract.errors import VersionError
from contract.handshake import contract_hash, require_same_contract
from contract.messages import Hello
from contract.server_info import ServerInfo
from contract.version import PROTOCOL

_SAME: Final = ("model_id", "weights_hash", "cameras", "layout", "action_kinds", "horizon", "step_ns", "max_prefix")


def new_instance() -> str:
    """16 hex digits that name this client process to the server."""
    return secrets.token_hex(8)


def hello(session: str, instance: str) -> Hello:
    """The opening message of a connection."""
    return Hello(session, instance, contract_hash(), f"robot_client pid {os.getpid()}")


def check_welcome(info: ServerInfo, roles: frozenset[str], before: ServerInfo | None, address: str) -> None:
    """Raises `VersionError` or `FieldError` when this server cannot drive this robot.

    `before` is what the server said earlier in this run: another policy behind the same address is refused, because
    chunk, grid and calibration of the run belong to the first one.
    """
    if info.protocol != PROTOCOL:
        raise VersionError(
            f"protocol of {address}", expected=PROTOCOL, got=info.protocol, remedy="install the same release"
        )
    require_same_contract(info.contract_hash, address)
    check_layout(info)
    check_camera_roles(set(roles), info)
    for name in _SAME if before is not None else ():
        was, now = getattr(before, name), getattr(info, name)
        if was != now:
            raise VersionError(
                f"{name} of {address}",
                expected=f"{was}, as at the start of this run",
                got=now,
                remedy="restart the run to use the new policy",
            )
