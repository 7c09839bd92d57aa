"""One episode of the expert in the twin, in simulated time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from contract.layout import JOINT_MASK
from robot_client.twin.tasks import Task
from robot_client.twin.twin import Twin
from training.expert.expert import Expert
from training.expert.path import ROW_S

MOST_ROWS: Final = 300


@dataclass(frozen=True, slots=True)
class Episode:
    """How an episode went."""

    seed: int
    task: Task
    success: bool
    rows: int
    tries: int
    phases: tuple[str, ...]
    """Phase after each row."""
    misplaced: str | None


def run_episode(twin: Twin, seed: int, task: Task | None = None, noise_rad: float = 0.0) -> Episode:
    """Let the expert do the layout of (seed, task).

    `noise_rad` is the standard deviation of what is added to each executed joint target; the expert does not know it,
    so the states visited spread while its rows stay clean.
    """
    twin.reset(seed, task)
    expert, noise = Expert(twin), np.random.default_rng([seed, 2])
    before = twin.world.target
    phases: list[str] = []
    while len(phases) < MOST_ROWS:
        row = expert.next_row()
        if row is None:
            break
        executed = row + np.where(JOINT_MASK, noise.normal(0.0, noise_rad, row.shape), 0.0) if noise_rad else row
        verdict = twin.glide(before, executed, ROW_S)
        before = executed
        phases.append(verdict.phase.value)
    verdict = twin.advance(before, 0.5)
    return Episode(seed, twin.layout.task, verdict.success, len(phases), expert.tries, tuple(phases), twin.misplaced())
