"""The whole robot side on a fake clock with a scripted leader in reach of a person."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from contract.layout import JOINT_MASK, index
from contract.station import Station
from contract.teleop import Teleop
from contract.types import Observation
from robot_client.safety.limits import limits_of
from robot_client.scripted_link import Script
from robot_client.teleop.leader import Align
from robot_client.teleop.scripted import ScriptedLeader
from robot_client.teleop.source import TeleopSource
from tests.robot_client.stage import HOME, PERIOD_NS, STATION, Stage, line, steady, told_of

SPEED = np.where(JOINT_MASK, np.r_[[1.5] * 3, [2.0] * 3, 0.0, [1.5] * 3, [2.0] * 3, 0.0], 4.0)
"""Of the twin's station [rad/s, 1/s]."""
STEP = SPEED * PERIOD_NS / 1e9
"""One normal step: what the speed limit allows in a tick."""
ROUNDING = 1e-9


def moving(observation: Observation) -> NDArray:
    """Rows that move all joints on and on."""
    rows = line(HOME, 0.005, observation.first_row, 16 - len(observation.prefix))
    return rows * JOINT_MASK + HOME * ~JOINT_MASK


def away(**channels: float) -> NDArray:
    """Home with some channels moved by as much."""
    pose = HOME.copy()
    for name, change in channels.items():
        pose[index(name)] += change
    return pose


class Scene(Stage):
    """`hand` is where the leader is: a pose or a function of time."""

    def __init__(
        self,
        hand: NDArray | Callable[[int], NDArray],
        align: Align = "follower",
        script: Script | None = None,
        rules: Teleop | None = None,
        at: Station = STATION,
        **options: object,
    ) -> None:
        super().__init__(script or steady(moving), at=at, **options)  # type: ignore[arg-type]
        self.hand = hand
        self.leader = ScriptedLeader(self.clock, self._hand, align)
        limits = limits_of(at.safety, PERIOD_NS / 1e9)
        self.teleop = TeleopSource(self.leader, rules or at.teleop, limits)
        self.process.pilot.teleop = self.teleop

    @property
    def notice(self) -> str:
        """Why the last thing a person asked for was not done."""
        return self.process.pilot.notice

    @property
    def source(self) -> str:
        """What the newest tick carries."""
        return self.ticks[-1].source

    def hand_over(self, act: str, mode: str, text: str = "", seconds: float = 12.0) -> list:
        """A person's handoff, until it is done; its ticks."""
        self.person(act, text)
        self.tick()
        return [self.ticks[-1], *self.run_until(lambda: self.mode == mode, seconds)]

    def _hand(self, now_ns: int) -> NDArray:
        return self.hand(now_ns) if callable(self.hand) else self.hand


def steps(ticks: list) -> NDArray:
    """(N-1, 14) of what was told."""
    return np.abs(np.diff(told_of(ticks), axis=0))
