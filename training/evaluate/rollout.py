"""One closed-loop episode: the served pipeline answers, the twin moves, the judge says whether it is done.

The fast path of the real client without its processes: simulated time stands still while the policy thinks, so a replan
commits the row that is due now and no more; every `execute` rows the policy is asked again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from contract.types import ActionChunk, GuidanceMode, Observation
from robot_client.twin.judge import Judge
from robot_client.twin.tasks import Task
from robot_client.twin.twin import Twin
from training.evaluate.suite import MOST_ROWS, ROW_S, Trial

EXECUTE_ROWS: Final = 8


@dataclass(slots=True)
class Outcome:
    """How a trial went, ready to be written as one JSON line."""

    split: str
    object: str
    receptacle: str
    seed: int
    success: bool = False
    rows: int = 0
    misplaced: str | None = None
    ratios: list[float] = field(default_factory=list)
    """Temporal Ratio at each replan."""
    phases: list[str] = field(default_factory=list)
    """Phase at each replan, from physics."""
    replan_ms: list[float] = field(default_factory=list)
    mask_effect: list[float] = field(default_factory=list)
    """Mean absolute change of the joint rows [rad] when the future is masked at this replan; empty if not asked for."""
    swap_effect: list[float] = field(default_factory=list)
    """The same when the future is swapped for another instruction's."""
    reworded: str | None = None
    """The instruction that was imagined instead of the given one; None = the given one was."""
    obeyed: bool | None = None
    """Whether that other job got done, which ends the trial; None = nothing else was imagined."""

    def line(self) -> dict[str, Any]:
        """JSON-ready, rounded; lists that were not asked for are left out."""
        digits = {"ratios": 5, "replan_ms": 1, "mask_effect": 5, "swap_effect": 5}
        short = {name: [round(value, places) for value in getattr(self, name)] for name, places in digits.items()}
        whole = {**asdict(self), **short}
        return {name: value for name, value in whole.items() if name not in _OPTIONAL or value not in (None, [])}


_OPTIONAL = ("mask_effect", "swap_effect", "reworded", "obeyed")


class Answers(Protocol):
    """Whatever can be asked: the served policy, or a baseline."""

    def replan(self, observation: Observation, elapsed_ns: Callable[[], int], /) -> ActionChunk:
        """The rows from the observation's `first_row` on."""


Probe = Callable[[Observation, ActionChunk], tuple[float, float]]
"""Question and answer of a replan -> its mask effect and swap effect."""


def run_trial(
    policy: Answers,
    twin: Twin,
    trial: Trial,
    guidance: GuidanceMode = "off",
    probe: Probe | None = None,
    imagined: Task | None = None,
) -> Outcome:
    """Try one layout until it is done or the time is over; `imagined` is the job whose future the policy is shown."""
    twin.reset(trial.seed, trial.task)
    outcome = Outcome(trial.split, trial.task.object, trial.task.receptacle, trial.seed)
    other = None if imagined is None else Judge(twin.world, imagined)
    if imagined is not None:
        outcome.reworded, outcome.obeyed = imagined.instruction, False
    due = twin.world.target
    while outcome.rows < MOST_ROWS and not outcome.success and not outcome.obeyed:
        first_row = outcome.rows + 1 if outcome.rows else 0
        prefix = due[np.newaxis] if outcome.rows else np.zeros((0, len(due)))
        question = observation(twin, trial, first_row, prefix, guidance)
        chunk = _ask(policy, question, outcome)
        if probe is not None:
            for effects, effect in zip((outcome.mask_effect, outcome.swap_effect), probe(question, chunk), strict=True):
                effects.append(effect)
        outcome.phases.append(twin.verdict.phase.value)
        for row in _rows_from(chunk, outcome.rows + 1)[:EXECUTE_ROWS]:
            goal = row.astype(np.float64)
            twin.glide(due, goal, ROW_S)
            due = goal
            outcome.rows += 1
            outcome.success = twin.verdict.success
            outcome.obeyed = other.look().success if other is not None else None
            if outcome.success or outcome.obeyed:
                break
    outcome.misplaced = twin.misplaced()
    return outcome


def observation(
    twin: Twin, trial: Trial, first_row: int, prefix: NDArray[np.float64], guidance: GuidanceMode
) -> Observation:
    """What the client would send now."""
    joints, frames = twin.joints(), twin.frames()
    images: Mapping[str, NDArray[np.uint8]] = {role: frame.image for role, frame in frames.items()}
    return Observation(
        session="evaluate",
        epoch=0,
        sequence=first_row,
        stamp_ns=joints.stamp_ns,
        joints=joints.positions.astype(np.float32),
        joints_stamp_ns=joints.stamp_ns,
        images=images,
        image_stamps_ns={role: frame.stamp_ns for role, frame in frames.items()},
        instruction=trial.task.instruction,
        seed=trial.seed * 1000 + first_row,
        first_row=first_row,
        prefix=prefix.astype(np.float32),
        budget_ns=0,
        guidance=guidance,
    )


def _ask(policy: Answers, question: Observation, outcome: Outcome) -> ActionChunk:
    before = time.perf_counter()
    chunk = policy.replan(question, lambda: 0)
    outcome.replan_ms.append((time.perf_counter() - before) * 1e3)
    outcome.ratios.append(chunk.temporal_ratio.value)
    return chunk


def _rows_from(chunk: ActionChunk, number: int) -> NDArray[np.float32]:
    """Rows of a chunk from row `number` of the grid on."""
    return chunk.rows[number - chunk.first_row :]
