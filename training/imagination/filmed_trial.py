"""A closed-loop trial with all that is needed for a film of it: what was seen, and what was imagined at each replan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contract.types import ActionChunk, ImagineRequest, Observation
from policy_server.policy import Policy
from robot_client.twin.judge import Verdict
from robot_client.twin.twin import Twin
from training.evaluate.rollout import Outcome, run_trial
from training.evaluate.suite import Trial


@dataclass(slots=True)
class Footage:
    """Canvases (Hc, Wc, 3) uint8."""

    trial: Trial
    seen: list[NDArray[np.uint8]] = field(default_factory=list)
    """At the start and after each row."""
    imagined: dict[int, NDArray[np.uint8]] = field(default_factory=dict)
    """By the row of the replan: the picture one chunk ahead of it."""
    long: NDArray[np.uint8] | None = None
    """(1 + chunks, Hc, Wc, 3): imagined from the first picture alone, each chunk from the last one's end."""
    outcome: Outcome | None = None


class _WatchedPolicy:
    """`Answers`: notes what is imagined of the very question that is answered."""

    def __init__(self, policy: Policy, footage: Footage, chunks: int) -> None:
        self._policy, self._footage, self._chunks = policy, footage, chunks

    def replan(self, observation: Observation, elapsed_ns: Callable[[], int]) -> ActionChunk:
        """The policy's answer."""
        footage = self._footage
        first = not footage.imagined
        frames = self._policy.imagine(ImagineRequest(observation, self._chunks if first else 1)).frames
        footage.imagined[len(footage.seen) - 1] = frames[(len(frames) - 1) // self._chunks if first else -1]
        if first:
            footage.long = frames
        return self._policy.replan(observation, elapsed_ns)


class _WatchedTwin:
    """The twin, with a picture taken after each row."""

    def __init__(self, twin: Twin, footage: Footage, picture: Callable[[], NDArray[np.uint8]]) -> None:
        self._twin, self._footage, self._picture = twin, footage, picture

    def __getattr__(self, name: str) -> object:
        return getattr(self._twin, name)

    def reset(self, seed: int, task: object) -> None:
        """As the twin, and the first picture."""
        self._twin.reset(seed, task)  # type: ignore[arg-type]
        self._footage.seen.append(self._picture())

    def glide(self, start: NDArray[np.float64], goal: NDArray[np.float64], seconds: float) -> Verdict:
        """As the twin, and a picture."""
        verdict = self._twin.glide(start, goal, seconds)
        self._footage.seen.append(self._picture())
        return verdict


def film_trial(
    policy: Policy, twin: Twin, trial: Trial, picture: Callable[[], NDArray[np.uint8]], chunks: int
) -> Footage:
    """Try one layout, unguided, and keep everything."""
    footage = Footage(trial)
    watched = _WatchedTwin(twin, footage, picture)
    footage.outcome = run_trial(_WatchedPolicy(policy, footage, chunks), watched, trial)  # type: ignore[arg-type]
    return footage
