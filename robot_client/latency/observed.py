"""Everything that a measured run showed, and the crossings in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contract.server_info import ServerInfo
from robot_client.latency.crossing import Crossing, cross, oldest_image
from robot_client.latency.executed import ages_ms, first_ticks
from robot_client.latency.motion import Motion, lag_ms, motion_of_positions
from robot_client.local_messages import LocalMessage, LoopStatus, PlanFailure, ReplanRecord, TickBatch


@dataclass(slots=True)
class Observed:
    """Filled while the run goes on. Without `motion` the loop's own joint readings are used."""

    replans: list[ReplanRecord] = field(default_factory=list)
    failures: list[PlanFailure] = field(default_factory=list)
    batches: list[TickBatch] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    arrivals: Mapping[tuple[str, int], int] = field(default_factory=dict)
    motion: Motion | None = None
    info: ServerInfo | None = None
    starts: int = 0
    stops: tuple[str, ...] = ()

    def add(self, message: LocalMessage) -> None:
        """Keep what is measured and forget the rest."""
        if isinstance(message, ReplanRecord):
            self.replans.append(message)
        elif isinstance(message, PlanFailure):
            self.failures.append(message)
        elif isinstance(message, TickBatch):
            self.batches.append(message)
        elif isinstance(message, LoopStatus):
            self.counters, self.notes = dict(message.counters), dict(message.notes)

    def crossings(self) -> list[Crossing]:
        """In order: every replan whose rows were run and whose link took stamps."""
        ticks, motion = first_ticks(self.batches), self.motion or self._own_motion()
        return [
            cross(record, ticks[name], self.arrivals, motion)
            for record in self.replans
            if (name := chunk_name(record)) in ticks and record.client_ns and record.image_ages_ns
        ]

    def ages_ms(self) -> NDArray[np.float64]:
        """(K,) age of the oldest picture behind every tick that ran a row."""
        known = {chunk_name(record): oldest_image(record)[1] for record in self.replans if record.image_ages_ns}
        return ages_ms(self.batches, known)

    def lag_ms(self) -> float | None:
        """Measured behind told while the policy had the arms."""
        told, measured = self._driven("told"), self._driven("measured")
        if not len(told):
            return None
        return lag_ms(self._driven("stamp_ns"), told, self._driven("measured_stamp_ns"), measured)

    def _driven(self, column: str) -> NDArray:
        parts = [getattr(batch, column)[batch.chunk >= 0] for batch in self.batches]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _own_motion(self) -> Motion:
        if not self.batches:
            return Motion(np.zeros(0, np.int64), np.zeros(0))
        stamps = np.concatenate([batch.measured_stamp_ns for batch in self.batches])
        return motion_of_positions(stamps, np.concatenate([batch.measured for batch in self.batches]))


def chunk_name(record: ReplanRecord) -> str:
    """The id under which the loop runs its rows."""
    return f"{record.session}/{record.epoch}/{record.sequence}"
