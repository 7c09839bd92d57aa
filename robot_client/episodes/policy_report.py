"""What a replay through the policy found: a table for people, JSON for everybody else."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from contract.server_info import ServerInfo
from robot_client.episodes.policy_replay import Compared

_SHOWN: Final = 30


@dataclass(frozen=True, slots=True)
class Tolerance:
    """rows [rad, gripper opening], TR relative."""

    rows: float
    tr: float


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """All replans of one episode against one server."""

    compared: Sequence[Compared]
    tolerance: Tolerance
    was: str
    """Engine and weights that gave the answers compared with."""
    now: str
    """Engine and weights that gave the new ones."""

    @property
    def outside(self) -> list[Compared]:
        """Replans beyond the tolerance."""
        return [one for one in self.compared if not one.within(self.tolerance.rows, self.tolerance.tr)]

    @property
    def passed(self) -> bool:
        """Something was compared, and nothing is outside."""
        return bool(self.compared) and not self.outside

    def write_json(self, path: Path) -> None:
        """Every replan and the summary."""
        content = {
            "passed": self.passed,
            "was": self.was,
            "now": self.now,
            "tolerance": asdict(self.tolerance),
            "replans": len(self.compared),
            "equal": sum(one.equal for one in self.compared),
            "outside": len(self.outside),
            "rows_off_max": _largest([one.rows_off for one in self.compared]),
            "tr_off_max": _largest([one.tr_off for one in self.compared]),
            "compared": [{**asdict(one), "tr_off": one.tr_off} for one in self.compared],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_finite(content), indent=1) + "\n", encoding="utf-8")

    def show(self, console: Console) -> None:
        """A row for each replan, the worst ones when there are too many, and one line for all."""
        table = Table("epoch/seq", "row", "rows off", "TR was", "TR is", "scales off", "branches", "")
        for one in sorted(sorted(self.compared, key=_badness)[-_SHOWN:], key=lambda one: one.first_row):
            table.add_row(*self._cells(one))
        console.print(table)
        if len(self.compared) > _SHOWN:
            console.print(f"the {_SHOWN} furthest off of {len(self.compared)}")
        console.print(f"was: {self.was}", highlight=False, soft_wrap=True)
        console.print(f"now: {self.now}", highlight=False, soft_wrap=True)
        console.print(self._summary(), highlight=False, soft_wrap=True)

    def _cells(self, one: Compared) -> list[str]:
        inside = one.within(self.tolerance.rows, self.tolerance.tr)
        state = one.trouble or ("equal" if one.equal else "within" if inside else "OUTSIDE")
        numbers = [f"{one.rows_off:.2e}", f"{one.tr_was:.4f}", f"{one.tr_is:.4f}", f"{one.scales_off:.1e}"]
        return [one.id.split("/", 1)[-1], str(one.first_row), *numbers, "+".join(one.branches_are), state]

    def _summary(self) -> str:
        equal = sum(one.equal for one in self.compared)
        rows, tr = (_largest([getattr(one, name) for one in self.compared]) for name in ("rows_off", "tr_off"))
        return (
            f"{len(self.compared)} replans: {equal} equal to the bit, {len(self.outside)} outside the tolerance "
            f"({self.tolerance.rows:g} rad, TR {self.tolerance.tr:g}); largest difference {rows:.2e} rad, TR {tr:.2e}"
        )


def identity(info: ServerInfo | None) -> str:
    """Engine and weights in a line."""
    return "unknown" if info is None else f"{info.model_id}, {info.engine_id}, weights {info.weights_hash[:12]}"


def _largest(values: Sequence[float]) -> float:
    return float(np.max(values)) if values else float("nan")


def _badness(one: Compared) -> float:
    return math.inf if math.isnan(one.rows_off) else one.rows_off


def _finite(value: object) -> object:
    """JSON has no NaN: those become null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
