"""The interface of an action head: `context` once per replan, `action_step` once per flow step.

Nothing but tapped backbone tokens, text and the state reaches a head; no pixel does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

from torch import Tensor, nn

from policy_server.model.config import ModelConfig


class ActionHead(nn.Module, ABC):
    """Interface. Both heads predict the data and return noise - data (policy_server.model.flow)."""

    context_outputs: tuple[str, ...]
    """Names of what `context` returns, in order."""
    step_inputs: tuple[str, ...]
    """Names of the context outputs that `action_step` takes after rows and times."""
    masses_from: Literal["action_step", "context"]
    with_masses: bool

    @abstractmethod
    def context(self, features: Tensor, text: Tensor, state: Tensor, future_keep: Tensor) -> tuple[Tensor, ...]:
        """What the flow steps need of one replan.

        features (B, N, D) frame-major, text (B, L, Dt), state (B, 14) normalised, future_keep (B,) 1 or 0.
        """

    @abstractmethod
    def action_step(self, rows: Tensor, times: Tensor, *memory: Tensor) -> tuple[Tensor, ...]:
        """Velocity (B, H, 14) of one flow step.

        rows (B, H, 14) normalised, times (B, H) noise levels, 0 for given prefix rows. When `masses_from` is
        "action_step" the second output is the masses (B, layers, heads, H, 2) on (C, F).
        """


def build_head(config: ModelConfig, with_masses: bool = True) -> ActionHead:
    """The head that the configuration names; `with_masses=False` leaves the indicator columns out, to time them."""
    if config.head.kind == "flow_transformer":
        from policy_server.model.head_flow import FlowTransformerHead

        return FlowTransformerHead(config, with_masses)
    from policy_server.model.head_once import ReadOnceHead

    return ReadOnceHead(config, with_masses)
