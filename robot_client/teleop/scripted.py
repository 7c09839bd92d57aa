"""Leaders without a hand: one that moves by a script, for tests and for trying a handoff; they ship."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contract.layout import GRIPPER_MASK, SIZE, index
from robot_client.clock import NS_PER_S, Clock
from robot_client.teleop.leader import Align
from robot_client.teleop.sample import LeaderGoal, LeaderSample

_SWING_RAD: Final = 0.1
_PERIOD_S: Final = 6.0
_SWINGING: Final = ("left_joint1", "left_joint5", "right_joint1", "right_joint5")


class ScriptedLeader:
    """A `Leader` in the loop's own thread: says `values(now_ns)`, keeps the goals it was sent in `goals`."""

    def __init__(self, clock: Clock, values: Callable[[int], NDArray[np.float64]], align: Align = "follower") -> None:
        self.name, self.align = "scripted", align
        self._clock, self._values = clock, values
        self.goals: list[LeaderGoal] = []
        self.silent = False
        self.dead_man = True
        self.clutch = True
        self.trouble = ""
        self._last: LeaderSample | None = None

    def newest(self) -> LeaderSample | None:
        if not self.silent:
            now_ns = self._clock.now_ns()
            self._last = LeaderSample(self._values(now_ns), now_ns, self.dead_man, self.clutch, self.trouble)
        return self._last

    def send(self, goal: LeaderGoal) -> None:
        self.goals.append(goal)


class SwingingLeader:
    """A `LeaderDevice`: from where the follower is, base and wrist swing slowly by 0.1 rad, grippers open and close."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start: NDArray[np.float64] | None = None
        self._since_ns = 0

    def open(self) -> None:
        """Nothing to open."""

    def read(self, goal: LeaderGoal | None) -> LeaderSample:
        now_ns = self._clock.now_ns()
        if goal is None:
            return LeaderSample(np.full(SIZE, np.nan), now_ns, dead_man=True)
        if not goal.free or self._start is None:
            self._start, self._since_ns = np.array(goal.pose), now_ns
        turn = 2 * pi * (now_ns - self._since_ns) / NS_PER_S / _PERIOD_S
        values = self._start.copy()
        for name in _SWINGING:
            values[index(name)] += _SWING_RAD * np.sin(turn)
        inward = np.where(self._start > 0.5, -1.0, 1.0)
        values += GRIPPER_MASK * inward * 0.25 * (1.0 - np.cos(turn))
        return LeaderSample(values, now_ns, dead_man=True)

    def close(self) -> None:
        """Nothing to let go."""
