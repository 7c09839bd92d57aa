"""Which layouts a policy is tried on: the same ones for every method, none of them among the demonstrations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from contract.errors import ConfigurationError
from robot_client.twin.tasks import Task, held_out, seen
from training.data.settings import TRAIN_SEEDS_FROM

Split = Literal["id", "ood"]
ROW_S: Final = 0.1
"""Time between rows."""
MOST_ROWS: Final = 160
"""16 s; the expert needs five on average."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One layout to try; `split` says whether actions of the pair were seen."""

    split: Split
    task: Task
    seed: int


def trials(rotation: int, per_pair: int, first_seed: int, splits: tuple[Split, ...] = ("id", "ood")) -> list[Trial]:
    """`per_pair` layouts of each pair; the seeds of a pair are the same in every rotation."""
    if first_seed + per_pair > TRAIN_SEEDS_FROM:
        raise ConfigurationError(
            "seeds of evaluation", expected=f"below {TRAIN_SEEDS_FROM}, where demonstrations begin", got=first_seed
        )
    pairs: list[tuple[Split, Task]] = []
    if "id" in splits:
        pairs += [("id", task) for task in seen(rotation)]
    if "ood" in splits:
        pairs += [("ood", task) for task in held_out(rotation)]
    return [Trial(split, task, first_seed + i) for i in range(per_pair) for split, task in pairs]
