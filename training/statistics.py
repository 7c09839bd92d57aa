"""Statistics of state and actions, measured on the action data of a run.

Joints are deltas from the state at the start of the chunk, grippers absolute openings, both as mean and deviation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from contract.layout import GRIPPER_MASK
from contract.manifest import Action, ActionKind, Statistics
from training.data.library import Library, Moments

_LEAST_SCALE = 0.02
"""A channel that hardly moves is not blown up: 0.02 rad or 2 % of the gripper's travel."""


def measure(library: Library, moments: Moments, horizon: int) -> tuple[Statistics, Action]:
    """State and action statistics over all given moments of seen pairs."""
    states, deltas, absolutes = [], [], []
    for number in np.unique(moments.demonstration):
        one = library.demonstrations[number]
        start, working = one.entry.start, one.entry.working
        state = np.asarray(one.shard.joints[start : start + working], np.float64)
        targets = np.asarray(one.shard.targets[start : start + working], np.float64)
        at = np.minimum(np.arange(working)[:, None] + np.arange(horizon), working - 1)
        states.append(state)
        absolutes.append(targets[at].reshape(-1, targets.shape[1]))
        deltas.append((targets[at] - state[:, None]).reshape(-1, targets.shape[1]))
    kinds: tuple[ActionKind, ...] = tuple("absolute" if grips else "delta" for grips in GRIPPER_MASK)
    used = (_statistics("absolute", absolutes), _statistics("delta", deltas))
    return _statistics("absolute", states), Action(kinds=kinds, statistics=used)


def _statistics(kind: ActionKind, parts: list[NDArray[np.float64]]) -> Statistics:
    values = np.concatenate(parts)
    scale = np.maximum(values.std(0), _LEAST_SCALE)
    return Statistics(kind=kind, offset=tuple(values.mean(0).round(6).tolist()), scale=tuple(scale.round(6).tolist()))
