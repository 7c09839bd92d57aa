"""`Rig` over the in-process twin: time stands still between two ticks of the client's loop."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from robot_client.clock import NS_PER_S, FakeClock
from robot_client.rigs.base import Frame, JointReading, Stop
from robot_client.twin.twin import Twin
from robot_client.twin.world import steps_in

_JUDGE_EVERY = 5


class SteppedRig:
    """Commands take effect at once; `step` moves time on. Pictures are taken when asked for, one set a moment."""

    def __init__(self, twin: Twin, clock: FakeClock) -> None:
        self._twin, self._clock = twin, clock
        self._target = twin.world.target
        self._frames: dict[str, Frame] = {}
        self._steps = 0
        self.told: list[NDArray[np.float64]] = []
        """Every command (14,), in order."""

    def open(self) -> None:
        """Nothing to get ready."""

    def joints(self) -> JointReading:
        """Measured now; held where the twin holds them."""
        reading = self._twin.joints()
        return JointReading(reading.positions, reading.velocities, self._clock.now_ns(), self._target.copy())

    def frames(self) -> Mapping[str, Frame]:
        """What the cameras see at this moment."""
        now_ns = self._clock.now_ns()
        if not self._frames or next(iter(self._frames.values())).stamp_ns != now_ns:
            self._frames = {role: Frame(role, one.image, now_ns) for role, one in self._twin.frames().items()}
        return self._frames

    def command(self, target: NDArray[np.float64]) -> None:
        self._target = np.array(target, np.float64)
        self.told.append(self._target)

    def stop(self, how: Stop) -> None:
        """The twin holds its last target whatever is asked."""

    def close(self) -> None:
        """The twin belongs to somebody else."""

    def step(self, period_ns: int) -> None:
        """Physics for one period under the last command; judged every 50 ms."""
        self._twin.world.follow(self._target)
        self._twin.world.step(steps_in(period_ns / NS_PER_S))
        self._steps += 1
        if self._steps % _JUDGE_EVERY == 0:
            self._twin.look()
