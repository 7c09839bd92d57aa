"""Runtime: loads engines and runs them. TensorRT's needs a card; a stub with faults on request ships beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from numpy.typing import NDArray

from policy_server.compiled.machine import Machine


class Executable(Protocol):
    """One loaded engine. One thread at a time."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the arrays it takes."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the arrays it gives."""

    def run(self, feeds: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Outputs by name. Raises `EngineError` with the library's words."""

    def close(self) -> None:
        """Give up its memory."""


class Runtime(Protocol):
    """Loads engines of one library on the card of this machine."""

    @property
    def machine(self) -> Machine:
        """What would run them."""

    def load(self, name: str, engine: bytes) -> Executable:
        """The engine of one graph, ready to run. Raises `EngineError` when the library refuses it."""

    def close(self) -> None:
        """Give up the card."""
