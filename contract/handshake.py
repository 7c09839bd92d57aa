"""Agreement on the contract: a hash over everything both sides must read alike."""

from __future__ import annotations

import hashlib
import json
from functools import cache

from contract.bodies import BODIES, KINDS
from contract.errors import VersionError
from contract.layout import CHANNELS
from contract.server_info import WRITTEN_WHEN_SO, CameraSpec, ServerInfo
from contract.version import PROTOCOL
from contract.wire import DTYPES


@cache
def contract_hash() -> str:
    """First 16 hex digits of sha256 over protocol number, channel names, dtypes and the fields of every message."""
    facts = {
        "protocol": PROTOCOL,
        "channels": CHANNELS,
        "dtypes": sorted(DTYPES),
        "kinds": sorted(KINDS.values()),
        "bodies": {kind: sorted(body.model_fields) for kind, body in BODIES.items()},
        "server_info": sorted(ServerInfo.model_fields),
        "camera": sorted(set(CameraSpec.model_fields) - WRITTEN_WHEN_SO),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def require_same_contract(theirs: str, peer: str) -> None:
    """Raises `VersionError` when the peer's contract hash is not ours."""
    if theirs != contract_hash():
        raise VersionError(
            f"contract of {peer}",
            expected=contract_hash(),
            got=theirs[:64],
            remedy="install the same release on robot and server",
        )
