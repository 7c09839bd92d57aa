"""Raw outcomes as they are stored: one JSON object a line, one line a trial."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contract.errors import ConfigurationError
from training.analyse.cell import ABOUT, Cell, cells_of


@dataclass(frozen=True, slots=True)
class Tried:
    """One closed-loop trial; docs/results/raw/README.md says what the fields are."""

    head_seed: int
    split: str
    object: str
    receptacle: str
    seed: int
    success: bool
    misplaced: str | None
    ratios: tuple[float, ...]
    phases: tuple[str, ...]
    replan_ms: tuple[float, ...]
    mask_effect: tuple[float, ...]
    swap_effect: tuple[float, ...]
    obeyed: bool | None = None
    """With a future imagined under another instruction: whether the arms did that other job instead."""

    @property
    def key(self) -> tuple[int, str, str, str, int]:
        """Trials of two methods with one key had the same training seed, layout and noise."""
        return self.head_seed, self.split, self.object, self.receptacle, self.seed


@dataclass(frozen=True, slots=True)
class Results:
    """Everything in one folder of raw results."""

    cells: tuple[tuple[Cell, tuple[Tried, ...]], ...]
    undescribed: tuple[str, ...]
    """Folders with outcomes that nobody said anything about; they are not counted."""

    def where(self, use: str, **facts: Any) -> list[tuple[Cell, tuple[Tried, ...]]]:
        """The cells that may be used so and have these facts; those through the client only when asked for."""
        facts = {"through": "rows", **facts}
        return [
            (cell, tried)
            for cell, tried in self.cells
            if use in cell.use and all(getattr(cell, name) == value for name, value in facts.items())
        ]

    def tried(self, use: str, **facts: Any) -> list[Tried]:
        """Their trials."""
        return [one for _, tried in self.where(use, **facts) for one in tried]


def read_results(folder: Path) -> Results:
    """All described outcomes under a folder. Raises `ConfigurationError` for what cannot be read."""
    cells, undescribed = [], []
    for part in sorted({path.parent for path in folder.rglob("*.jsonl")}):
        if not (part / ABOUT).is_file():
            undescribed.append(str(part.relative_to(folder)))
        cells += [(cell, tuple(_lines(part / cell.file, cell.head_seed))) for cell in cells_of(part)]
    if not cells:
        raise ConfigurationError(
            f"{folder}",
            expected=f"folders with *.jsonl and {ABOUT}",
            got="none",
            remedy="yam-train evaluate --out writes them; see docs/results/raw/README.md",
        )
    return Results(tuple(cells), tuple(undescribed))


def of_split(tried: Iterable[Tried], split: str) -> list[Tried]:
    """Trials of seen (id) or held-out (ood) pairs."""
    return [one for one in tried if one.split == split]


def _lines(path: Path, head_seed: int) -> Iterator[Tried]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            yield _tried(json.loads(line), head_seed)
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{path}, line {number}",
                expected="one trial as JSON, with as many phases as ratios",
                got=f"{type(error).__name__}: {error}",
                remedy="see docs/results/raw/README.md",
            ) from error


def _tried(line: dict[str, Any], head_seed: int) -> Tried:
    lists = ("ratios", "phases", "replan_ms", "mask_effect", "swap_effect")
    values = {name: tuple(line.get(name) or ()) for name in lists}
    if any(values[name] and len(values[name]) != len(values["phases"]) for name in lists):
        raise ValueError("lists of different lengths")
    names = ("split", "object", "receptacle", "seed", "success", "misplaced")
    facts = {name: line[name] for name in names}
    return Tried(head_seed=head_seed, obeyed=line.get("obeyed"), **facts, **values)
