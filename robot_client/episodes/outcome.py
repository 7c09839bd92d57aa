"""How a replay on a rig went: told now beside told then."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robot_client.clock import NS_PER_S
from robot_client.episodes.course import Course
from robot_client.local_messages import LoopStatus, TickBatch


@dataclass(slots=True)
class Outcome:
    """How a replay went."""

    course: Course
    speed: float
    ticks: int = 0
    """Ticks in REPLAY."""
    off: float = 0.0
    """Largest difference of told from what was told then, at the same time [rad, gripper opening]."""
    lateness_ns: list[int] = field(default_factory=list)
    skipped: int = 0
    start_ns: int = -1
    end_ns: int = -1
    last: LoopStatus | None = None
    stopped: str = ""
    """Why it ended before its end."""

    @property
    def seconds(self) -> float:
        """From the first tick in REPLAY to the last."""
        return (self.end_ns - self.start_ns) / NS_PER_S if self.ticks else 0.0

    @property
    def expected_s(self) -> float:
        """What the stamps say, at this speed."""
        return self.course.duration_ns / self.speed / NS_PER_S

    def take(self, batch: TickBatch) -> None:
        """Compare the ticks in REPLAY."""
        if "REPLAY" not in batch.modes:
            return
        for i in np.flatnonzero(batch.mode == batch.modes.index("REPLAY")):
            due_ns = int(batch.deadline_ns[i])
            if self.start_ns < 0:
                self.start_ns = due_ns
            wanted = self.course.at((due_ns - self.start_ns) * self.speed)
            self.off = max(self.off, float(np.abs(batch.told[i] - wanted).max()))
            self.lateness_ns.append(int(batch.lateness_ns[i]))
            self.skipped += int(batch.skipped[i])
            self.end_ns = due_ns
            self.ticks += 1
