"""Batches of moments: what is seen, what is done next, what will be seen.

Model row 0 belongs to the moment itself (it is the row due then), row k to k steps of 0.1 s later. After the last
working row the last target is held.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from contract.errors import ConfigurationError
from policy_server.model.config import ModelConfig
from policy_server.model.instruction import tokens_per_instruction
from policy_server.words import Words
from robot_client.twin.tasks import Task
from training.data.library import Demonstration, Library, Moments
from training.device import here


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What a batch looks at."""

    canvases: Tensor
    """(B, 1 or T, Hc, Wc, 3) uint8: now, and if asked for every fourth frame of the future."""
    tokens: Tensor
    """(B, W) int64."""
    state: Tensor
    """(B, 14) float32, measured joints."""


def require_pictures(library: Library, step: int) -> None:
    """Raises `ConfigurationError` for demonstrations with fewer pictures than the model looks at."""
    for one in library.demonstrations:
        if step % one.entry.stride:
            raise ConfigurationError(
                f"{one.shard.folder}: stride",
                expected=f"a picture every {step} tenths of a second",
                got=f"one every {one.entry.stride}",
                remedy="make or import the data again with stride 1",
            )


class Sampler:
    """Reads batches out of a library for one model."""

    def __init__(self, library: Library, config: ModelConfig, acting: tuple[Task, ...]) -> None:
        self._library = library
        self._horizon = config.head.horizon
        latent = config.latent
        # Pixel blocks take one picture a latent frame, the other encoders every frame of the clip.
        step = latent.temporal if latent.kind == "blocks" else 1
        self._offsets = np.arange(0, (latent.frames - 1) * latent.temporal + 1, step)
        require_pictures(library, step)
        words = Words(config.text.kind, config.text.vocabulary, tokens_per_instruction(config.text))
        asked = dict.fromkeys(one.instruction for one in library.demonstrations)
        self._tokens = {instruction: words.tokens(instruction)[0] for instruction in asked}
        self._acting = frozenset(acting)

    def seen(self, moments: Moments, chosen: NDArray[np.intp], future: bool) -> Seen:
        """The chosen moments; `future` adds the later latent frames' pictures, the last one repeated at the end."""
        offsets = self._offsets if future else self._offsets[:1]
        canvases, tokens, state = [], [], []
        for demonstration, moment in self._places(moments, chosen):
            entry = demonstration.entry
            at = np.minimum((moment + offsets - entry.offset) // entry.stride, entry.frames - 1)
            canvases.append(demonstration.shard.frames[entry.frame_start + at])
            tokens.append(self._tokens[demonstration.instruction])
            state.append(demonstration.shard.joints[entry.start + moment])
        return Seen(*(here(torch.from_numpy(np.stack(part))) for part in (canvases, tokens, state)))

    def rows(self, moments: Moments, chosen: NDArray[np.intp]) -> Tensor:
        """Absolute target rows (B, H, 14) float32. Raises `ConfigurationError` for a pair that gives no actions."""
        rows = []
        for demonstration, moment in self._places(moments, chosen):
            if not self._gives_actions(demonstration):
                raise ConfigurationError(
                    "action data", expected="seen pairs only", got=demonstration.instruction, remedy="a mistake"
                )
            entry = demonstration.entry
            at = entry.start + np.minimum(moment + np.arange(self._horizon), entry.working - 1)
            rows.append(demonstration.shard.targets[at])
        return here(torch.from_numpy(np.stack(rows)))

    def acts(self, moments: Moments, chosen: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether each chosen moment may give actions: its pair is seen, and the way home has not begun."""
        return np.array(
            [self._gives_actions(one) and moment < one.entry.working for one, moment in self._places(moments, chosen)]
        )

    def _gives_actions(self, one: Demonstration) -> bool:
        return one.task is None or one.task in self._acting

    def _places(self, moments: Moments, chosen: NDArray[np.intp]) -> list[tuple[Demonstration, int]]:
        demonstrations = self._library.demonstrations
        return [(demonstrations[moments.demonstration[i]], int(moments.moment[i])) for i in chosen]
