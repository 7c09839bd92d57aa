"""What one replan may do: guidance mode, allowed branches, time left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from contract.manifest import Guidance
from contract.types import Branch, GuidanceMode, GuidanceScales, Observation
from policy_server.budget import BranchCosts, Choice, Extras, choose
from policy_server.guidance import scales_of


@dataclass(frozen=True, slots=True)
class Rules:
    """The terms of one replan."""

    mode: GuidanceMode
    allowed: tuple[Branch, ...]
    budget_ns: int
    """0 = no limit."""
    elapsed_ns: Callable[[], int]
    """Time since receipt."""
    costs: BranchCosts
    forced: GuidanceScales | None = None
    """Scales set from outside (warm-up, benchmarks)."""

    @staticmethod
    def of(
        observation: Observation, elapsed_ns: Callable[[], int], costs: BranchCosts, forced: GuidanceScales | None
    ) -> Rules:
        """The terms that an observation sets."""
        return Rules(observation.guidance, observation.branches, observation.budget_ns, elapsed_ns, costs, forced)

    def known_scales(self, settings: Guidance) -> GuidanceScales | None:
        """Scales known before TR is; None when TR decides, and for forced ones, which stand in for TR's decision."""
        if self.forced is None and self.mode in ("off", "constant"):
            return scales_of(self.mode, float("nan"), settings)
        return None

    def scales(self, rank: float, settings: Guidance) -> GuidanceScales:
        """Scales at a TR of percentile `rank`."""
        return scales_of(self.mode, rank, settings) if self.forced is None else self.forced

    def choose(self, scales: GuidanceScales, remaining_ns: int) -> Choice:
        """Branches to run when `remaining_ns` of the conditional branch are still ahead."""

        def fits(extras: Extras) -> bool:
            ahead = remaining_ns + self.costs.extra_ns.get(extras, 0)
            return self.budget_ns == 0 or self.elapsed_ns() + ahead <= self.budget_ns

        return choose(scales, self.allowed, fits)
