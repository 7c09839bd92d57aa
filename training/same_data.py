"""What can be known to go wrong before hours are spent: statistics of other data, a disk that is too small."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from contract.errors import ConfigurationError
from contract.layout import CHANNELS
from contract.manifest import Statistics
from policy_server.model.card import PolicyCard
from policy_server.model.checkpoint import CARD
from policy_server.model.policy import VideoActionModel
from training.run import Run
from training.stages.materials import Materials

_MOST_SHIFT = 1.0
"""Means may differ by this many deviations; more data of the same kind moves them by a few hundredths."""
_MOST_SCALE = 3.0
_COPIES = 2 * 4 + 1
"""Weights, their average and two moments of each, old and new while a state is replaced; and the checkpoint."""


def require_same_data(run: Run, materials: Materials) -> None:
    """Raises `ConfigurationError` when a trained head is to go on with data whose statistics are of another kind.

    Its weights mean the numbers of the old data: with other offsets and scales every action comes out wrong at first.
    """
    head_from = run.head_start or ("" if run.fresh_head else run.start)
    if not head_from or run.stage != "action":
        return
    card = PolicyCard.model_validate_json((Path(head_from) / CARD).read_text(encoding="utf-8"))
    if not card.trained:
        return
    for what, old, new in (("state", card.state, materials.state), *_actions(card, materials)):
        channel = _first_apart(old, new)
        if channel is not None:
            raise ConfigurationError(
                f"statistics of {what} {CHANNELS[channel]}, head of {head_from}",
                expected=f"about {old.offset[channel]:.3g} +- {old.scale[channel]:.3g}, as its head was trained with",
                got=f"{new.offset[channel]:.3g} +- {new.scale[channel]:.3g} in {', '.join(str(f) for f in run.data)}",
                remedy="correct `data` (units, order of channels?), or set `fresh_head = true`",
            )


def require_room(folder: Path, model: VideoActionModel) -> None:
    """Raises `ConfigurationError` when the disk cannot take the states of a run."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    needed = _COPIES * sum(value.numel() * value.element_size() for value in model.state_dict().values())
    free = shutil.disk_usage(there).free
    if free < needed:
        raise ConfigurationError(
            f"disk of {folder}",
            expected=f"{needed / 1e9:.2f} GB free",
            got=f"{free / 1e9:.2f} GB",
            remedy="free some space, or choose another folder with --out",
        )


def _actions(card: PolicyCard, materials: Materials) -> list[tuple[str, Statistics, Statistics]]:
    new = {entry.kind: entry for entry in materials.action.statistics}
    return [(f"action ({old.kind})", old, new[old.kind]) for old in card.action.statistics if old.kind in new]


def _first_apart(old: Statistics, new: Statistics) -> int | None:
    shift = np.abs(np.subtract(new.offset, old.offset)) / np.maximum(old.scale, new.scale)
    ratio = np.divide(new.scale, old.scale)
    apart = np.flatnonzero((shift > _MOST_SHIFT) | (ratio > _MOST_SCALE) | (ratio < 1 / _MOST_SCALE))
    return int(apart[0]) if len(apart) else None
