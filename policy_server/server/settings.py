"""How to serve."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from policy_server.server.bind import DEFAULT_BIND


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """`hang_s`: longest replan, or pass of an imagination, before the server gives itself up."""

    bind: str = DEFAULT_BIND
    insecure: bool = False
    keys: Path | None = None
    hang_s: float = 30.0
    metrics: str | None = None
    """HOST:PORT of the pages `/metrics` and `/status`; None = no pages."""
