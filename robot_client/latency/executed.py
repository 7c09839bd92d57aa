"""What the loop did with chunks: when it first ran a row of each, and on how old a picture every tick ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_client.local_messages import TickBatch


@dataclass(frozen=True, slots=True)
class FirstTick:
    """The first tick that ran a row of a chunk."""

    safety_begun_ns: int
    safety_ns: int
    command_ns: int

    @property
    def commanded_ns(self) -> int:
        """The rig has the target."""
        return self.safety_begun_ns + self.safety_ns + self.command_ns


def first_ticks(batches: Sequence[TickBatch]) -> dict[str, FirstTick]:
    """Chunk id -> its first tick."""
    found: dict[str, FirstTick] = {}
    for batch in batches:
        for i in np.flatnonzero(batch.chunk >= 0):
            found.setdefault(batch.chunks[batch.chunk[i]], _first(batch, int(i)))
    return found


def ages_ms(batches: Sequence[TickBatch], captured_ns: dict[str, int]) -> NDArray[np.float64]:
    """(K,) age of the oldest picture behind each tick that ran a row, when its command was given."""
    ages = [
        batch.stamp_ns[batch.chunk == number] - captured_ns[name]
        for batch in batches
        for number, name in enumerate(batch.chunks)
        if name in captured_ns
    ]
    return np.concatenate(ages) / 1e6 if ages else np.zeros(0)


def _first(batch: TickBatch, i: int) -> FirstTick:
    # The stamp is taken right after the command.
    safety_ns, command_ns = int(batch.safety_ns[i]), int(batch.command_ns[i])
    return FirstTick(int(batch.stamp_ns[i]) - command_ns - safety_ns, safety_ns, command_ns)
