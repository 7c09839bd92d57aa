"""What the server needs of a policy, and nothing more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from contract.server_info import ServerInfo, ServerState
from contract.types import ActionChunk, ImaginedFrames, ImagineRequest, Observation


class ServedPolicy(Protocol):
    """A loaded policy. Every method is called from the inference thread alone."""

    def info(self, state: ServerState) -> ServerInfo:
        """Identity and needs; the costs are known after `warm_up`."""

    def warm_up(self) -> None:
        """Run every graph once, so that the first replan is no slower than the others."""

    def replan(self, observation: Observation, elapsed_ns: Callable[[], int]) -> ActionChunk:
        """Answer one observation; `elapsed_ns()` is the time since the server received it.

        Raises `StackError` when the observation cannot be answered, `EngineError` when the engine is at fault.
        """

    def imagine(self, request: ImagineRequest, between: Callable[[], None]) -> ImaginedFrames:
        """Predicted canvas frames after one observation; errors as `replan`.

        `between` is called between passes, where the server lets waiting replans go first by calling `replan`.
        """

    def close(self) -> None:
        """Free the engine."""


PolicyLoader = Callable[[], ServedPolicy]
"""Makes the policy inside the inference thread, so that the socket answers while weights load."""
