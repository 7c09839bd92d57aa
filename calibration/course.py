"""How arms move while they are calibrated: to a pose, or one channel to and fro."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from robot_client.clock import NS_PER_S
from robot_client.modes import Event
from robot_client.sources.base import Asked, Moment


class Wiggle:
    """A `TargetSource`: one channel to and fro about where it is told to be, swelling and dying away.

    Two sines whose periods share no multiple within the time, so that only one shift makes two records alike.
    """

    def __init__(self, channel: int, amplitude: float, seconds: float, rate_hz: float = 0.6) -> None:
        self.name = f"wiggle:{channel}"
        self._channel, self._amplitude, self._seconds, self._rate_hz = channel, amplitude, seconds, rate_hz
        self._middle: NDArray[np.float64] = np.zeros(0)
        self._start_ns = 0

    def begin(self, moment: Moment) -> None:
        self._middle, self._start_ns = moment.told.position.copy(), moment.now_ns

    def ask(self, moment: Moment) -> Asked:
        at_s = (moment.now_ns - self._start_ns) / NS_PER_S
        asked = self._middle.copy()
        if at_s >= self._seconds:
            return Asked(asked, event=Event.ARRIVED, reason=f"{self.name} done")
        envelope = math.sin(math.pi * at_s / self._seconds) ** 2
        turn = 2 * math.pi * self._rate_hz * at_s
        asked[self._channel] += self._amplitude * envelope * (0.7 * math.sin(turn) + 0.3 * math.sin(2.37 * turn))
        return Asked(asked)
