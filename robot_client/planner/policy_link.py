"""What the planner needs of a link to a policy server; `robot_client.link` and `robot_client.scripted_link` have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from contract.errors import StackError
from contract.server_info import ServerInfo
from contract.types import Observation
from robot_client.link.asked import Answer
from robot_client.link.connection import LinkState


class PlannerLink(Protocol):
    """Submit and poll; only `poll` waits, and never longer than it is told."""

    @property
    def state(self) -> LinkState:
        """READY when an observation can be submitted."""

    @property
    def info(self) -> ServerInfo:
        """What the server said of itself; only once READY."""

    @property
    def refusal(self) -> StackError | None:
        """Why the server refused us."""

    def open(self) -> None:
        """Begin to connect; also leaves REFUSED."""

    def submit(self, observation: Observation, budget_ms: float | None = None) -> int:
        """Send; returns the request's id. Raises a `StackError` when it cannot be sent."""

    def poll(self, timeout_s: float = 0.0, wake_on: Sequence[int] = ()) -> list[Answer]:
        """Answers that are there, waiting for the first or for a readable descriptor."""

    def close(self) -> None:
        """Say goodbye."""
