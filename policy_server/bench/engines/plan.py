"""What the engines bench is asked to time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch

from contract.errors import ConfigurationError
from policy_server.bench.engines.contestants import CONTESTANTS
from policy_server.bench.engines.sizes import CANVASES
from policy_server.export.precision import Precision

DTYPES: Final = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
LOOPS: Final = ("whole loops", "whole loops, compiled")
"""A replan as the captured torch engine runs it."""
EVERY: Final = (*CONTESTANTS, *LOOPS)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to time, and for how long at most."""

    sizes: tuple[str, ...] = ("tiny",)
    canvases: tuple[str, ...] = CANVASES
    branches: tuple[int, ...] = (1, 2, 3)
    engines: tuple[str, ...] = EVERY
    precision: Precision = "fp32"
    device: str = "cpu"
    rounds: int = 30
    most_s: float = 20.0
    """Of one row; slow work is timed fewer times, three at least."""

    def check(self) -> torch.device:
        """The device. Raises `ConfigurationError` for what cannot be timed here."""
        unknown = [name for name in self.engines if name not in EVERY]
        if unknown:
            raise ConfigurationError("--engines", expected=", ".join(EVERY), got=unknown[0], remedy="use those names")
        if not self.branches or not set(self.branches) <= {1, 2, 3}:
            raise ConfigurationError("--branches", expected="1, 2 or 3", got=self.branches, remedy="there are no more")
        if self.rounds < 1:
            raise ConfigurationError("--rounds", expected="1 or more", got=self.rounds, remedy="30 is usual")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ConfigurationError("--device", expected="cpu", got="cuda, but torch sees no card", remedy="use cpu")
        if self.device == "cpu" and "full" in self.sizes:
            raise ConfigurationError(
                "--sizes", expected="tiny or mid on a CPU", got="full: two billion weights", remedy="use --device cuda"
            )
        return torch.device(self.device)
