"""The head's Euler loop: rows from noise, the committed prefix written in clean before every step.

Flow convention: x_s = (1 - s) * data + s * noise; velocity = noise - data; x <- x - ds * velocity, s from 1 to 0.
All branches share one x and run as one batch; guidance combines their velocities at each step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contract.types import Branch, GuidanceScales
from policy_server.guidance import combine
from policy_server.stages import Stages, Stopwatch


@dataclass(frozen=True, slots=True, eq=False)
class FlowResult:
    """One run through all flow steps."""

    rows: NDArray
    """(H, 14) normalised, prefix included."""
    masses: NDArray
    """(steps, layers, heads, H, 2) of the first branch; no steps when the head gives them with its context."""


class ActionFlow:
    """Integrates the head's velocity from noise to rows in a fixed number of steps."""

    def __init__(self, stages: Stages, steps: int) -> None:
        self._stages = stages
        self._levels = [1.0 - step / steps for step in range(steps)]
        self._step_size = np.float32(1.0 / steps)

    def run(
        self,
        context: Mapping[str, NDArray],
        branches: Sequence[Branch],
        start: tuple[NDArray, NDArray],
        scales: GuidanceScales,
        watch: Stopwatch,
    ) -> FlowResult:
        """Rows from `start` = (noise (H, 14), normalised prefix (P, 14)); the prefix keeps its values, at time 0.

        `context` is what the head needs, one entry on axis 0 for each of `branches`, "full" first. Raises
        `EngineError` naming the step at which a value was not finite (B23).
        """
        noise, prefix = start
        given, rows = len(prefix), noise.copy()
        batch = np.empty((len(branches), *rows.shape), np.float32)
        times = np.zeros(batch.shape[:2], np.float32)
        pool = {**context, "rows": batch, "times": times}
        masses: list[NDArray] = []
        for step, level in enumerate(self._levels):
            rows[:given] = prefix
            batch[:] = rows
            times[:, given:] = level
            outputs = self._stages.run("action_step", pool, watch, step)
            velocities = dict(zip(branches, outputs["velocity"], strict=True))
            rows -= self._step_size * combine(velocities, scales)
            if "masses" in outputs:
                masses.append(outputs["masses"][0])
        rows[:given] = prefix
        return FlowResult(rows, np.stack(masses) if masses else np.zeros((0, 0, 0, 0, 2), np.float32))
