"""The training log: one JSON object per line, to be plotted."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path


class Log:
    """Averages what is reported between two lines."""

    def __init__(self, path: Path, step: int) -> None:
        self._path = path
        self._sums: dict[str, list[float]] = defaultdict(list)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._drop_after(step)

    def add(self, values: dict[str, float]) -> None:
        """Values of one step; each is averaged over the steps that had it."""
        for name, value in values.items():
            self._sums[name].append(value)

    def write(self, **values: float) -> str:
        """Write a line with the averages and `values`; returns a short form for people."""
        means = {name: sum(part) / len(part) for name, part in self._sums.items()}
        self._sums.clear()
        line = {**values, **means}
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({key: float(f"{value:.6g}") for key, value in line.items()}) + "\n")
        return " ".join(f"{name} {value:.4f}" for name, value in means.items())

    def _drop_after(self, step: int) -> None:
        """A resumed run writes the lines after its checkpoint again."""
        if not self._path.is_file():
            return
        lines = [line for line in self._path.read_text(encoding="utf-8").splitlines() if line]
        kept = [line for line in lines if json.loads(line)["step"] <= step]
        self._path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
