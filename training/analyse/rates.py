"""Success of some trials, and how far it is from that of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from training.analyse.entry import Entry, entry, rate_of
from training.analyse.outcomes import Tried, of_split
from training.analyse.paired import success_difference

SPLITS: Final = ("id", "ood")


def success(tried: Sequence[Tried], split: str, reason: str = "not run") -> Entry:
    """Rate of one split, with how many training and layout seeds it rests on."""
    part = of_split(tried, split)
    return entry(rate_of([one.success for one in part]), reason, **_seeds(part))


def compared(tried: Sequence[Tried], reference: Sequence[Tried]) -> dict[str, Entry]:
    """Success, and how far it is from that of the reference on the same layouts and noise."""
    told = {split: success(tried, split) for split in SPLITS}
    if reference:
        for split in SPLITS:
            found = success_difference(of_split(tried, split), of_split(reference, split))
            told[f"{split}_minus_reference"] = entry(found, "no trials with the same seeds")
    return told


def _seeds(tried: Sequence[Tried]) -> dict[str, Any]:
    """With several training seeds also the successes of each, in words."""
    heads = sorted({one.head_seed for one in tried})
    told: dict[str, Any] = {"training_seeds": len(heads), "layout_seeds": len({one.seed for one in tried})}
    if len(heads) > 1:
        won = {head: [one.success for one in tried if one.head_seed == head] for head in heads}
        told["by_training_seed"] = {str(head): f"{sum(part)}/{len(part)}" for head, part in won.items()}
    return told
