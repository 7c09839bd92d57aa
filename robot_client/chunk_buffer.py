"""Rows of accepted chunks on the client's row grid. Pure: time comes in as an argument.

Rows are numbered from engagement. With nothing there yet the grid starts when the first chunk is accepted, at row 0.
A chunk is asked for from the row just after the committed ones and enters there; when it is late it enters in the
middle, at the first row that is neither executed nor committed. When rows run out the grid stands still, so a delay is
the number of rows really executed during it. Rows are found by number, never by position in a list.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.errors import ActionError
from contract.layout import SIZE
from contract.types import ActionChunk
from robot_client.chunk_entry import Commitment, Entry, Refusal, RowTarget
from robot_client.fade import Fade, Seam
from robot_client.row_grid import RowGrid
from robot_client.safety.veto import checked_rows

_SAME: Final = 1e-12
"""Courses that differ by less are one course [rad]."""


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    values: NDArray[np.float64]
    chunk_id: str


class ChunkBuffer:
    """Accepts, commits and interpolates. `counts` has every acceptance, refusal, late entry and standstill.

    Where a plan begins in the middle of a row's way, as always with a policy that takes no prefix, the courses are
    blended, and rows that contradict the row before them are drawn towards it: by the limits of `seam`, and in one
    step without it.
    """

    def __init__(
        self,
        step_ns: int,
        horizon: int,
        max_prefix: int,
        seam: Seam | None = None,
    ) -> None:
        self._step_ns, self._seam = step_ns, seam
        self._most_prefix = min(max_prefix, horizon - 1)
        self._asks_next = horizon == 1
        self._sequence = 0
        self.counts: Counter[str] = Counter()
        self.engage(0)

    def engage(self, epoch: int) -> None:
        """Forget all rows and open requests; rows count from 0 again. Sequence numbers go on."""
        self._epoch = epoch
        self._grid: RowGrid | None = None
        self._rows: dict[int, _Row] = {}
        self._asked: dict[int, int] = {}
        self._accepted_sequence = -1
        self._fade: Fade | None = None

    def continue_as(self, epoch: int) -> None:
        """Keep the rows under a new epoch; open requests of the old one are void."""
        self._epoch = epoch
        self._asked.clear()

    def commit(self, now_ns: int, rows_ahead: int) -> Commitment:
        """Fix the row in execution and `rows_ahead` more, as far as there are rows and the policy takes a prefix.

        A policy without prefix is asked for the row in execution (it describes the moment of the observation) and
        enters in the middle; one whose chunks are a single row is asked for the next one.
        """
        sequence, self._sequence = self._sequence, self._sequence + 1
        if self._grid is None:
            self._asked[sequence] = 0
            return Commitment(sequence, 0, np.zeros((0, SIZE), np.float32))
        row = self._grid.row_at(now_ns)
        count = min(max(rows_ahead, 0) + 1, self._most_prefix, self._grid.last - row + 1)
        first_row = row + 1 if self._asks_next else row + count
        self._asked[sequence] = first_row
        rows = [self._rows[i].values for i in range(row, row + count)]
        return Commitment(sequence, first_row, np.array(rows, np.float32).reshape(count, SIZE))

    def accept(self, chunk: ActionChunk, now_ns: int, lead_ns: int = 0) -> Entry:
        """Enter a chunk, or say why not. A refused chunk changes nothing.

        Where targets are asked for `lead_ns` ahead of the grid, rows up to there have been told already, and it is
        there that the course must not jump.
        """
        entry = self._judge(chunk, now_ns, now_ns + lead_ns)
        self.counts["accepted" if entry.refusal is None else f"refused_{entry.refusal.value}"] += 1
        return entry

    def target(self, now_ns: int) -> RowTarget | None:
        """The target at `now_ns`, or None while there is no row."""
        if self._grid is None:
            return None
        row = self._grid.row_at(now_ns)
        values = self._course(self._grid, now_ns)
        if self._fade is not None:
            values = values + self._fade.at(now_ns)
        return RowTarget(
            values, row, self._grid.fraction_at(now_ns), self._rows[row].chunk_id, now_ns < self._grid.expires_ns()
        )

    def forget(self, sequence: int) -> None:
        """A request that will get no chunk: its committed rows are free again."""
        self._asked.pop(sequence, None)

    def left_ns(self, now_ns: int) -> int:
        """Time until the last row expires; negative afterwards, 0 while there is none."""
        return 0 if self._grid is None else self._grid.expires_ns() - now_ns

    def rows_left(self, now_ns: int) -> int:
        """Rows that are not yet due."""
        return 0 if self._grid is None else self._grid.last - self._grid.row_at(now_ns)

    def fraction_at(self, now_ns: int) -> float:
        """How far the target is on its way to the next row; 0 while there is none."""
        return 0.0 if self._grid is None else self._grid.fraction_at(now_ns)

    def row_at(self, now_ns: int) -> int:
        """Newest row that is due; -1 while there is none."""
        return -1 if self._grid is None else self._grid.row_at(now_ns)

    def _judge(self, chunk: ActionChunk, now_ns: int, told_ns: int) -> Entry:
        if chunk.epoch != self._epoch:
            return Entry(Refusal.EPOCH, f"epoch {chunk.epoch}, now {self._epoch}")
        asked = self._asked.get(chunk.sequence)
        if chunk.sequence <= self._accepted_sequence or asked is None:
            return Entry(Refusal.SEQUENCE, f"sequence {chunk.sequence}, accepted {self._accepted_sequence}")
        if chunk.first_row != asked:
            return Entry(Refusal.FIRST_ROW, f"first row {chunk.first_row}, asked for {asked}")
        try:
            rows = checked_rows(chunk.rows)
        except ActionError as error:
            return Entry(Refusal.VETO, f"chunk {chunk.chunk_id}: {error}")
        return self._enter(chunk, rows, now_ns, told_ns)

    def _enter(self, chunk: ActionChunk, rows: NDArray[np.float64], now_ns: int, told_ns: int) -> Entry:
        last = chunk.first_row + len(rows) - 1
        committed = max((first for sequence, first in self._asked.items() if sequence > chunk.sequence), default=0)
        row = max(chunk.first_row, self.row_at(told_ns) + 1, committed)
        if row > last:
            return Entry(Refusal.EXPIRED, f"rows {chunk.first_row}..{last}, executed or committed up to {row - 1}")
        before = self.target(told_ns)
        course_before = None if self._grid is None else self._course(self._grid, told_ns)
        grid = self._replace_from(row, rows[row - chunk.first_row :], chunk.chunk_id, now_ns)
        if before is not None and course_before is not None:
            self._keep_continuous(before.values, course_before, self._course(grid, told_ns), told_ns)
        self._accepted_sequence = chunk.sequence
        self._asked = {sequence: first for sequence, first in self._asked.items() if sequence > chunk.sequence}
        self.counts["rows_skipped"] += row - chunk.first_row
        self.counts["entered_late"] += row > chunk.first_row
        return Entry(None, "", row, row - chunk.first_row)

    def _replace_from(self, row: int, rows: NDArray[np.float64], chunk_id: str, now_ns: int) -> RowGrid:
        """The newer plan from `row` on; nothing of the older one after its end; rows long executed are let go."""
        last, executed = row + len(rows) - 1, self.row_at(now_ns)
        kept = {i: old for i, old in self._rows.items() if executed <= i < row}
        if self._seam is not None and row - 1 in kept:
            rows = self._seam.softened(kept[row - 1].values, rows, self._step_ns)
        self._rows = kept | {row + i: _Row(values, chunk_id) for i, values in enumerate(rows)}
        if self._grid is None:
            self._grid = RowGrid(now_ns, self._step_ns, last)
        else:
            self.counts["standstills"] += now_ns > self._grid.due_ns(self._grid.last)
            self._grid = self._grid.extended(last, now_ns)
        return self._grid

    def _course(self, grid: RowGrid, now_ns: int) -> NDArray[np.float64]:
        """Straight lines between rows; the last row once there is no other."""
        row, fraction = grid.row_at(now_ns), grid.fraction_at(now_ns)
        here = self._rows[row].values
        return here if fraction == 0.0 else here + fraction * (self._rows[row + 1].values - here)

    def _keep_continuous(self, target: NDArray, course_before: NDArray, course_after: NDArray, told_ns: int) -> None:
        """Change over where the new plan begins in the middle of a row's way, no faster than the seam may be."""
        if np.abs(course_after - course_before).max() <= _SAME:
            return
        offset = target - course_after
        needed_ns = 0 if self._seam is None else self._seam.fade_ns(offset)
        self._fade = Fade(offset, told_ns, max(self._step_ns, needed_ns))
