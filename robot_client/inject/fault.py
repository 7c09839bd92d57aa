"""One fault of `--inject` and when it is there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal[
    "drop", "delay", "cut", "nan", "stale", "swap", "reorder", "freeze", "kill-server", "kill-planner"
]  # fmt: skip
ANSWERS: Final[frozenset[Kind]] = frozenset({"drop", "delay", "nan", "stale", "swap", "reorder"})
"""Happen to answers of the policy."""
KILLS: Final[frozenset[Kind]] = frozenset({"kill-server", "kill-planner"})
ONCE: Final[frozenset[Kind]] = frozenset({"nan", "stale", "swap", "reorder", *KILLS})
"""Happen once, unless a length is given; the others last for good."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Times count from the moment at which a person engages the policy, and anew at every engagement."""

    kind: Kind
    target: str = ""
    """Of "freeze": camera:ROLE, joints, server, planner. Of "nan": joints; empty = an answer."""
    at_s: float = 0.0
    length_s: float = math.inf
    """0 = once."""
    value: float = 0.0
    """Probability of "drop", seconds of "delay"."""
    spread: float = 0.0
    """Of "delay" [s]: evenly between value - spread and value + spread."""
    text: str = ""
    """As a person wrote it."""

    @property
    def role(self) -> str:
        """Of a camera; empty for anything else."""
        kind, _, role = self.target.partition(":")
        return role if kind == "camera" else ""

    def lasts(self, elapsed_s: float | None) -> bool:
        """Whether it is there `elapsed_s` after engagement; None = nothing was engaged yet."""
        return elapsed_s is not None and self.at_s <= elapsed_s < self.at_s + self.length_s
