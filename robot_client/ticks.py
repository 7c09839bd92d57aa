"""One record per tick, and batches of them for whoever keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contract.layout import SIZE
from robot_client.local_messages import TickBatch

_NOTHING = np.full(SIZE, np.nan)
_UNCHANGED = np.zeros(SIZE, np.uint16)


@dataclass(frozen=True, slots=True, eq=False)
class TickRecord:
    """What happened in one tick. None: the source asked for nothing, nothing was commanded, there was no reading."""

    deadline_ns: int
    stamp_ns: int
    lateness_ns: int
    skipped: int
    mode: str
    source: str
    epoch: int
    asked: NDArray[np.float64] | None
    told: NDArray[np.float64] | None
    measured: NDArray[np.float64] | None
    measured_stamp_ns: int
    row: int
    fraction: float
    chunk_id: str
    clips: NDArray[np.uint16] | None
    intervention: int = 0
    """Bit per arm that a person moved in place of the policy (`control_source.arms_bits`)."""
    safety_ns: int = 0
    """Duration of limiting the target."""
    command_ns: int = 0
    """Duration of giving it to the rig."""


def batch_of(records: Sequence[TickRecord], first_tick: int = 0) -> TickBatch:
    """The records column-wise; `first_tick` is the number of the first one."""
    modes, mode = _coded([record.mode for record in records])
    sources, source = _coded([record.source for record in records])
    chunks, chunk = _coded([record.chunk_id for record in records], none="")
    return TickBatch(
        modes=modes,
        sources=sources,
        chunks=chunks,
        first_tick=first_tick,
        deadline_ns=np.array([record.deadline_ns for record in records], np.int64),
        stamp_ns=np.array([record.stamp_ns for record in records], np.int64),
        lateness_ns=np.array([record.lateness_ns for record in records], np.int64),
        skipped=np.array([record.skipped for record in records], np.int32),
        mode=mode,
        source=source,
        epoch=np.array([record.epoch for record in records], np.int64),
        asked=_column([record.asked for record in records]),
        told=_column([record.told for record in records]),
        measured=_column([record.measured for record in records]),
        measured_stamp_ns=np.array([record.measured_stamp_ns for record in records], np.int64),
        row=np.array([record.row for record in records], np.int64),
        fraction=np.array([record.fraction for record in records], np.float64),
        chunk=chunk,
        clips=np.array([_UNCHANGED if record.clips is None else record.clips for record in records], np.uint16),
        intervention=np.array([record.intervention for record in records], np.uint8),
        safety_ns=np.array([record.safety_ns for record in records], np.int64),
        command_ns=np.array([record.command_ns for record in records], np.int64),
    )


def _column(vectors: Sequence[NDArray | None]) -> NDArray[np.float64]:
    return np.array([_NOTHING if vector is None else vector for vector in vectors], np.float64)


def _coded(names: Sequence[str], none: str | None = None) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Distinct names in order, and each entry's index; `none` becomes -1."""
    known = dict.fromkeys(name for name in names if name != none)
    index = {name: i for i, name in enumerate(known)}
    return tuple(known), np.array([index.get(name, -1) for name in names], np.int32)
