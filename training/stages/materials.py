"""What a run trains on: library, moments, sampler, statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from contract.manifest import Action, Statistics
from policy_server.model.config import ModelConfig
from robot_client.twin.tasks import TASKS, seen
from training.data.library import Library, Moments
from training.data.samples import Sampler
from training.device import here
from training.looking import mirrored_aims
from training.normaliser import BatchNormaliser
from training.run import Run
from training.stages.base import Chance
from training.stages.emphasis import Emphasis
from training.statistics import measure


@dataclass(frozen=True, slots=True, eq=False)
class Materials:
    """Moments that give actions are those of seen pairs; moments that give video are those of all pairs."""

    library: Library
    sampler: Sampler
    acting: Moments
    acting_validation: Moments
    video: Moments
    video_validation: Moments
    state: Statistics
    action: Action
    normaliser: BatchNormaliser
    emphasis: Emphasis
    places: dict[int, NDArray[np.float32]]
    """Aims by identity of the moments they belong to; empty when no run asks for them."""

    def aims(self, moments: Moments, chosen: NDArray[np.intp], mirrored: Tensor) -> Tensor:
        """(B, 2, 2) where the hand will close or open next, in the top view (training.data.aims)."""
        aims = here(torch.from_numpy(self.places[id(moments)][chosen]))
        return torch.where(mirrored[:, None, None], mirrored_aims(aims), aims)


def gather(run: Run, config: ModelConfig) -> Materials:
    """Open the data of a run. Raises `ConfigurationError` when there is none."""
    library, pairs = Library(run.data, run.shards), seen(run.rotation)
    acting = library.moments(pairs, working_only=True, validation=False, every=run.moment_every)
    state, action = measure(library, acting, config.head.horizon)
    fresh = library.moments(pairs, working_only=True, validation=True, every=run.moment_every)
    return Materials(
        library=library,
        sampler=Sampler(library, config, pairs),
        acting=acting,
        acting_validation=fresh,
        video=library.moments(TASKS, working_only=False, validation=False, every=run.moment_every),
        video_validation=library.moments(TASKS, working_only=False, validation=True, every=run.moment_every),
        state=state,
        action=action,
        normaliser=BatchNormaliser(state, action),
        emphasis=Emphasis(library, acting, config.head.horizon, _deltas(action)),
        places=_aims(library, (acting, fresh)) if run.action.look_weight else {},
    )


def _aims(library: Library, parts: tuple[Moments, ...]) -> dict[int, NDArray[np.float32]]:
    from training.data.aims import aims_of

    return {id(moments): aims_of(library, moments) for moments in parts}


def _deltas(action: Action) -> NDArray[np.float64]:
    return np.array(next(entry.scale for entry in action.statistics if entry.kind == "delta"))


def some(moments: Moments, count: int, chance: Chance) -> NDArray[np.intp]:
    """`count` moments drawn evenly."""
    return chance.numpy.integers(len(moments), size=count)


def by_pair(library: Library, moments: Moments) -> tuple[NDArray[np.intp], ...]:
    """Positions of the moments of each pair that has any."""
    pairs = np.array([TASKS.index(one.task) for one in library.demonstrations])[moments.demonstration]
    return tuple(np.flatnonzero(pairs == number) for number in np.unique(pairs))


def evenly(groups: tuple[NDArray[np.intp], ...], count: int, chance: Chance) -> NDArray[np.intp]:
    """`count` moments, every pair as likely as any other."""
    which = chance.numpy.integers(len(groups), size=count)
    return np.array([groups[number][chance.numpy.integers(len(groups[number]))] for number in which])
