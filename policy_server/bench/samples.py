"""Samples of one run of the wire benchmark, and what is said of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_server.percentiles import percentiles_ms


@dataclass(slots=True)
class Samples:
    """Filled block by block; entry k of each list was measured at about the same time."""

    replans: list[dict[str, int]] = field(default_factory=list)
    """`whole_ns`, `engine_ns`, `server_ns`, `branches` of each replan."""
    echo_ns: list[int] = field(default_factory=list)
    copies_ns: list[list[int]] = field(default_factory=list)
    """[into new arrays, into kept arrays]."""

    def report(self) -> dict[str, Any]:
        """Percentiles, and the ratios of medians."""
        stack, engine = self._of("whole_ns") - self._of("engine_ns"), self._of("engine_ns")
        echo, copies = np.array(self.echo_ns), np.array(self.copies_ns)
        floor, kept = 2 * copies[:, 0] + echo, 2 * copies[:, 1] + echo
        return {
            "stack_ms": percentiles_ms(stack),
            "floor_ms": percentiles_ms(floor),
            "floor_kept_ms": percentiles_ms(kept),
            "echo_ms": percentiles_ms(echo),
            "copy_ms": percentiles_ms(copies[:, 0]),
            "copy_kept_ms": percentiles_ms(copies[:, 1]),
            "pipeline_ms": percentiles_ms(self._of("server_ns") - engine),
            "engine_ms": percentiles_ms(engine),
            "replans_by_branches": dict(Counter(str(replan["branches"]) for replan in self.replans)),
            "stack_over_floor_p50": round(float(np.median(stack) / np.median(floor)), 4),
            "stack_over_floor_kept_p50": round(float(np.median(stack) / np.median(kept)), 4),
        }

    def _of(self, name: str) -> NDArray[np.int64]:
        return np.array([replan[name] for replan in self.replans])
