"""Rows that carry their own number and their chunk's, so that whoever sees a target knows what it belongs to.

The left gripper says the row, the right one the chunk. Numbers are small on the gripper's scale, so that the ramp to
the first row of an engagement is short. The joints creep to and fro, so that a stop can be seen in them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import JOINT_MASK, index
from contract.types import Observation

STEP_NS: Final = 30_000_000
HORIZON: Final = 10
MAX_PREFIX: Final = 6
_ROW: Final = index("left_gripper")
_CHUNK: Final = index("right_gripper")
_A_ROW: Final = 1e-3
_A_CHUNK: Final = 1e-4
CHUNKS: Final = 1000
"""Chunk numbers begin again after so many."""
_CREEP_RAD: Final = 0.002
"""Of every joint in a row."""
_TURN: Final = 4
"""Chunks after which the creeping turns round."""


def rows_for(asked: Observation) -> NDArray[np.float32]:
    """(HORIZON less the prefix, 14) that go on where the committed rows, or the measured joints, are."""
    count = HORIZON - len(asked.prefix)
    base = asked.prefix[-1] if len(asked.prefix) else asked.joints
    way = _CREEP_RAD if asked.sequence // _TURN % 2 else -_CREEP_RAD
    rows = base + way * np.arange(1, count + 1)[:, np.newaxis] * JOINT_MASK
    rows[:, _ROW] = _A_ROW * np.arange(asked.first_row, asked.first_row + count)
    rows[:, _CHUNK] = _A_CHUNK * (asked.sequence % CHUNKS)
    return rows.astype(np.float32)


def row_in(targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N,) row numbers, with the fraction of the way to the next, of targets (N, 14)."""
    return targets[:, _ROW] / _A_ROW


def chunk_in(targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N,) chunk numbers below `CHUNKS`; between two while one plan changes over to the next."""
    return targets[:, _CHUNK] / _A_CHUNK
