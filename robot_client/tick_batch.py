"""Ticks of the loop, as others keep them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TickBatch:
    """N consecutive ticks of the loop, column-wise. Made by `robot_client.ticks`.

    Indices point into the lists: mode and source per tick by name, chunk by id (-1 = no row of a chunk ran).
    """

    modes: tuple[str, ...]
    sources: tuple[str, ...]
    chunks: tuple[str, ...]
    first_tick: int
    """Number of the first tick of the batch, from 0; a gap to the batch before it is what was lost on the way."""
    deadline_ns: NDArray
    """(N,) int64, the tick's place on the fixed grid."""
    stamp_ns: NDArray
    """(N,) int64, when the tick's command was given."""
    lateness_ns: NDArray
    """(N,) int64, start of the tick after its deadline."""
    skipped: NDArray
    """(N,) int32, whole periods skipped just before this tick."""
    mode: NDArray
    """(N,) int32"""
    source: NDArray
    """(N,) int32"""
    epoch: NDArray
    """(N,) int64"""
    asked: NDArray
    """(N, 14) float64, NaN where the source asked for nothing."""
    told: NDArray
    """(N, 14) float64, NaN while nothing was commanded."""
    measured: NDArray
    """(N, 14) float64, NaN when there was no reading."""
    measured_stamp_ns: NDArray
    """(N,) int64"""
    row: NDArray
    """(N,) int64, number of the newest row that is due; -1 = none."""
    fraction: NDArray
    """(N,) float64, how far the target is on its way to the next row."""
    chunk: NDArray
    """(N,) int32"""
    clips: NDArray
    """(N, 14) uint16, bits of `robot_client.safety.limits.Clip`."""
    intervention: NDArray = field(default_factory=lambda: np.zeros(0, np.uint8))
    """(N,) uint8, bit per arm (left 1, right 2) that a person moved in place of the policy."""
    safety_ns: NDArray = field(default_factory=lambda: np.zeros(0, np.int64))
    """(N,) int64, duration of limiting the target."""
    command_ns: NDArray = field(default_factory=lambda: np.zeros(0, np.int64))
    """(N,) int64, duration of giving it to the rig."""
