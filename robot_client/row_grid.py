"""The client's row grid: row k is due at start + k * step. Rows really executed are counted here, never estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class RowGrid:
    """When rows are due. `last` is the highest row there is: the grid stands still there until there are more."""

    start_ns: int
    step_ns: int
    last: int

    def due_ns(self, row: int) -> int:
        """When `row` is due."""
        return self.start_ns + row * self.step_ns

    def row_at(self, now_ns: int) -> int:
        """The newest row that is due: rows 0 .. row_at have been executed."""
        return min(max((now_ns - self.start_ns) // self.step_ns, 0), self.last)

    def fraction_at(self, now_ns: int) -> float:
        """How far the target is from `row_at` to the row after it; 0 at the last row."""
        row = self.row_at(now_ns)
        return 0.0 if row == self.last else min(max((now_ns - self.due_ns(row)) / self.step_ns, 0.0), 1.0)

    def expires_ns(self) -> int:
        """The end of the last row's own time."""
        return self.due_ns(self.last + 1)

    def extended(self, last: int, now_ns: int) -> RowGrid:
        """With rows up to `last`. A grid that stood still goes on from where it stood: no row is skipped (B09)."""
        stood_ns = max(0, now_ns - self.due_ns(self.last))
        return replace(self, start_ns=self.start_ns + stood_ns, last=last)
