"""Status: everything a person or a monitor may ask a running server, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from contract.server_info import ServerInfo
from policy_server.server.counters import Counters
from policy_server.server.history import History


@dataclass(frozen=True, slots=True)
class CardMemory:
    """Memory of the card in bytes."""

    used_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Status:
    """One look at a server."""

    state: str
    info: ServerInfo | None
    """None while the policy loads."""
    up_s: float
    sessions: int
    counters: dict[str, int]
    stages_ms: dict[str, dict[str, float]]
    temporal_ratio: dict[str, float]
    branches_run: dict[str, int]
    branches_dropped: dict[str, int]
    card: CardMemory | None
    """None where there is no NVIDIA card."""

    def as_json(self) -> dict[str, Any]:
        """For `json.dumps`: what ServerInfo says first, the numbers after it."""
        identity = {} if self.info is None else self.info.model_dump(mode="json", exclude={"state", "layout"})
        numbers = {name: value for name, value in asdict(self).items() if name not in ("state", "info")}
        return {"state": self.state, **identity, **numbers}


def status_of(
    state: str, info: ServerInfo | None, sessions: int, counters: Counters, history: History, up_s: float
) -> Status:
    """The present status."""
    run, dropped = history.branches()
    return Status(
        state=state,
        info=info,
        up_s=round(up_s, 3),
        sessions=sessions,
        counters=asdict(counters),
        stages_ms=history.stages_ms(),
        temporal_ratio=history.temporal_ratio(),
        branches_run=dict(run),
        branches_dropped=dict(dropped),
        card=card_memory(),
    )


def card_memory() -> CardMemory | None:
    """Used and total memory of the first card, from the driver's management library; None without one."""
    from policy_server.engines.card import memory_bytes

    found = memory_bytes()
    return None if found is None else CardMemory(*found)
