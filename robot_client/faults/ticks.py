"""What the loop did, tick by tick, and what of it should not have been. Arrays of one stretch of a run, pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import JOINT_MASK
from robot_client.faults.rows import CHUNKS, chunk_in, row_in
from robot_client.local_messages import TickBatch

_ROW_OFF: Final = 0.05
"""By which a row's own number may differ from its place on the grid: float32 and rounding."""
_CHUNK_OFF: Final = 0.05
_OVER: Final = 1e-9
STANDING: Final = ("HOLD", "IDLE", "FAULT")


@dataclass(frozen=True, slots=True, eq=False)
class Ticks:
    """N ticks in order, column-wise. A chunk's name ends with its epoch and its sequence: SESSION/EPOCH/SEQUENCE."""

    mode: NDArray[np.str_]
    chunk: NDArray[np.str_]
    deadline_ns: NDArray[np.int64]
    stamp_ns: NDArray[np.int64]
    skipped: NDArray[np.int32]
    asked: NDArray[np.float64]
    told: NDArray[np.float64]
    row: NDArray[np.int64]
    fraction: NDArray[np.float64]
    epoch: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.mode)

    def after(self, at_ns: int) -> Ticks:
        """Those whose command was given after `at_ns`."""
        keep = self.stamp_ns > at_ns
        return Ticks(**{name: getattr(self, name)[keep] for name in self.__slots__})


def ticks_of(batches: Sequence[TickBatch]) -> Ticks:
    """The ticks of consecutive batches."""
    names = ("deadline_ns", "stamp_ns", "skipped", "asked", "told", "row", "fraction", "epoch")
    return Ticks(
        mode=np.concatenate([np.array(b.modes)[b.mode] for b in batches]),
        chunk=np.concatenate([np.array((*b.chunks, ""))[b.chunk] for b in batches]),
        **{name: np.concatenate([getattr(b, name) for b in batches]) for name in names},
    )


def stale_rows(ticks: Ticks, engaged_epoch: int, lasts: Mapping[str, int]) -> int:
    """Ticks that ran a row which they should not have run.

    `lasts`: chunk -> number of its last row; a chunk that is not there was never answered, or its answer was refused. A
    row is wrong whose own number is not its place on the grid, whose values are neither of the chunk named nor of its
    neighbours, which lies beyond its chunk, or whose chunk was asked for before epoch `engaged_epoch`.
    """
    runs = np.flatnonzero((ticks.row >= 0) & (ticks.mode == "POLICY"))
    if not len(runs):
        return 0
    names, rows = ticks.chunk[runs], ticks.row[runs]
    off_grid = np.abs(row_in(ticks.asked[runs]) - (rows + ticks.fraction[runs])) > _ROW_OFF
    beyond = rows > np.array([lasts.get(str(name), -1) for name in names])
    old = np.array([int(str(name).rsplit("/", 2)[1]) for name in names]) < engaged_epoch
    newest = max((int(name.rsplit("/", 1)[1]) for name in lasts), default=0)
    return int((off_grid | beyond | old | _foreign(names, chunk_in(ticks.asked[runs]), newest)).sum())


def _foreign(names: NDArray[np.str_], numbers: NDArray[np.float64], newest: int) -> NDArray[np.bool_]:
    """Whose values belong neither to the chunk named nor to the one before it, nor lie on the way to a newer one."""
    wrong = np.zeros(len(names), bool)
    before = own = -1
    for i, name in enumerate(names):
        number = int(str(name).rsplit("/", 1)[1])
        if number != own:
            before, own = own if own >= 0 else number, number
        low, high = min(before, own) % CHUNKS, max(newest, own) % CHUNKS
        wrong[i] = low <= high and not low - _CHUNK_OFF <= numbers[i] <= high + _CHUNK_OFF
    return wrong


def largest_step_rad(ticks: Ticks) -> float:
    """Largest change of a joint's target from one tick to the next."""
    steps = _steps(ticks)[0][:, JOINT_MASK]
    return float(steps.max()) if steps.size else 0.0


def steps_over_limit(ticks: Ticks, speed: NDArray[np.float64], period_s: float) -> int:
    """Ticks in which any target (14,) changed by more than its speed limit [rad/s, 1/s] allows since the last."""
    steps, periods = _steps(ticks)
    return int((steps > speed * period_s * periods[:, np.newaxis] + _OVER).any(axis=1).sum()) if steps.size else 0


def _steps(ticks: Ticks) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(M, 14) changes between ticks that both commanded, and the periods between them."""
    steps = np.abs(np.diff(ticks.told, axis=0))
    both = np.isfinite(steps).all(axis=1)
    return steps[both], (1 + ticks.skipped[1:].astype(np.int64))[both]


def moved_while_standing(ticks: Ticks) -> int:
    """Ticks in HOLD, IDLE or FAULT whose target had stood still and changed."""
    still = np.isin(ticks.mode, STANDING)
    steps = np.abs(np.diff(ticks.told, axis=0)).max(axis=1, initial=0.0)
    count, rested = 0, False
    for i in range(1, len(ticks)):
        if not (still[i] and still[i - 1]) or not np.isfinite(steps[i - 1]):
            rested = False
        elif steps[i - 1] == 0.0:
            rested = True
        else:
            count += rested
    return count
