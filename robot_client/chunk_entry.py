"""What goes into and comes out of the chunk buffer: commitments, entries, refusals, targets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray


class Refusal(Enum):
    """Why a chunk was not entered."""

    EPOCH = "epoch"
    """Asked for before the last pause, stop, mode or instruction change."""
    SEQUENCE = "sequence"
    """Not newer than a chunk already accepted, or never asked for."""
    FIRST_ROW = "first_row"
    """Starts at another row than was asked for."""
    VETO = "veto"
    """Has a value that must not reach an arm."""
    EXPIRED = "expired"
    """Every row of it was already executed or committed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of a chunk: entered at `row` after `skipped` rows that were executed meanwhile, or refused."""

    refusal: Refusal | None
    detail: str
    row: int = -1
    skipped: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Commitment:
    """Rows fixed for a replan: `prefix` (P, 14) float32 are the rows just before `first_row`."""

    sequence: int
    first_row: int
    prefix: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class RowTarget:
    """The interpolated absolute target (14,) float64 of one moment and where it comes from."""

    values: NDArray[np.float64]
    row: int
    fraction: float
    chunk_id: str
    valid: bool
    """False once the last row's own time is over; the values stay those of the last row."""
