"""Weights of a model of another size, as far as they fit: how a run starts from a policy that is built otherwise."""

from __future__ import annotations

import torch
from torch import Tensor

from policy_server.model.config import ModelConfig
from policy_server.model.policy import VideoActionModel

_ON_CONDITION = ("head.reader.film.weight", "head.reader.ask.weight", "head.digest.0.weight")
"""Matrices whose last columns take the head's condition: language, then the 14 of the state."""
_BY_FRAME = ("backbone.dit.learnable_pos_embed.pos_emb_t", "head.reader.places.tables.0")
"""Tables with one row a latent frame."""


@torch.no_grad()
def adopt(model: VideoActionModel, source: VideoActionModel, part: str = "") -> tuple[str, ...]:
    """Copy into `model` what `source` has of it; returns the names of weights that stay as they were.

    `part`: only weights whose names begin so; the others are neither copied nor named.

    Copied are tensors of the same name and shape; of tables by frame the rows at the same times; and when the head of
    `model` does not hear the instruction, the columns for all else of the matrices that take it.
    """
    mine, theirs = model.state_dict(), source.state_dict()
    left = []
    for name, tensor in mine.items():
        if not name.startswith(part):
            continue
        given = theirs.get(name)
        if given is not None and name in _BY_FRAME:
            given = given[_rows(model.config, source.config)]
        if given is not None and name in _ON_CONDITION and given.shape != tensor.shape:
            given = _without_language(given, tensor.shape[1], model.config.head.actions)
        if given is None or given.shape != tensor.shape:
            left.append(name)
        else:
            tensor.copy_(given)
    return tuple(left)


def _rows(mine: ModelConfig, theirs: ModelConfig) -> list[int]:
    """For each of my latent frames the one of theirs nearest in time."""
    return [
        min(round(frame * mine.latent.temporal / theirs.latent.temporal), theirs.latent.frames - 1)
        for frame in range(mine.latent.frames)
    ]


def _without_language(matrix: Tensor, width: int, state: int) -> Tensor:
    """Columns (.., width): those before the language, and those of the state."""
    return torch.cat([matrix[:, : width - state], matrix[:, -state:]], 1)
