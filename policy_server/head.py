"""What the action head needs again at every flow step, per branch and stacked: computed once per replan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.types import Branch
from policy_server.sight import Sight
from policy_server.stages import Stages, Stopwatch

KEEPS_FUTURE: Final[Mapping[Branch, float]] = {"full": 1.0, "nolang": 1.0, "noplan": 0.0}
"""`future_keep` of each branch: 0 masks the keys of all later latent frames."""


class HeadContexts:
    """Runs the `context` graph for the branches that need their own, and stacks the results in branch order."""

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self._masks_future = stages.needs("context", "future_keep")

    def run(self, branches: Sequence[Branch], sight: Sight, state: NDArray, watch: Stopwatch) -> dict[str, NDArray]:
        """Outputs of `context` and `future_keep` (B,), one entry on axis 0 a branch; state (1, 14) is shared."""
        views = [sight.of(branch) for branch in branches]
        keep = _keep(branches)
        pool = {
            "features": np.concatenate([view.features for view in views]),
            "text": np.concatenate([view.text for view in views]),
            "state": np.repeat(state, len(branches), axis=0),
            "future_keep": keep,
        }
        return {**self._stages.run("context", pool, watch), "future_keep": keep}

    def extend(
        self, full: Mapping[str, NDArray], extras: Sequence[Branch], sight: Sight, state: NDArray, watch: Stopwatch
    ) -> dict[str, NDArray]:
        """Context of "full" and `extras` stacked.

        What pass 1 computed for "full" is used again; so it is for "noplan" when the graph masks nothing itself.
        """
        own = [branch for branch in extras if branch == "nolang" or self._masks_future]
        outputs = self.run(own, sight, state, watch) if own else {}
        parts: dict[Branch, Mapping[str, NDArray]] = {
            branch: {name: array[i : i + 1] for name, array in outputs.items()} for i, branch in enumerate(own)
        }
        rows = [full, *(parts.get(branch, full) for branch in extras)]
        stacked = {name: np.concatenate([part[name] for part in rows]) for name in full}
        return {**stacked, "future_keep": _keep(("full", *extras))}


def _keep(branches: Sequence[Branch]) -> NDArray[np.float32]:
    return np.array([KEEPS_FUTURE[branch] for branch in branches], np.float32)
